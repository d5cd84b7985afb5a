import semver from 'semver';
import { z } from 'zod';
import type { SystemFacts } from '../measurement/system.js';
import { parseHostPort } from '../rpc/loopback.js';
import { line, modelOfferSchema } from './model-offer.js';

const MAX_MODELS = 1000;

/** The models that come with the platform take less than half of it. */
const MAX_OFFER_SIZE = 1024 * 1024;

/** Besides the characters of a text. */
const VALUE_BYTES = 32;

const WILDCARDS = ['0.0.0.0', '::'];

function isReachable(address: string): boolean {
  const parsed = parseHostPort(address);
  return parsed !== undefined && parsed.port > 0 && !WILDCARDS.includes(parsed.host);
}

/** Characters that a header may have; empty for none. */
export const accessTokenSchema = z
  .string()
  .max(1024)
  .regex(/^[!-~]*$/, 'not a token');

/** An estimate of the memory in bytes. */
export function encodedSize(offered: unknown): number {
  if (typeof offered === 'string') return VALUE_BYTES + offered.length;
  if (typeof offered !== 'object' || offered === null) return VALUE_BYTES;
  return Object.entries(offered).reduce((sum, [key, value]) => sum + key.length + encodedSize(value), VALUE_BYTES);
}

export const agentOfferSchema = z
  .strictObject({
    /** One agent per address. */
    address: line(300).refine(isReachable, 'not HOST:PORT of one machine'),
    tls: z.boolean(),
    hostname: line(300).min(1),
    framework: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/i, 'not the name of a framework'),
    frameworkVersion: line(100).refine((version) => semver.valid(version) !== null, 'not a semantic version'),
    architecture: line(100).min(1),
    processor: line(300).min(1),
    operatingSystem: line(300).min(1),
    cores: z.int().min(1),
    memoryBytes: z.number().positive(),
    models: z.array(modelOfferSchema).max(MAX_MODELS),
  })
  .refine(
    (offer) => encodedSize(offer) <= MAX_OFFER_SIZE,
    `more than ${MAX_OFFER_SIZE / 1024} KiB; offer fewer models`,
  );

type ModelOffer = z.infer<typeof modelOfferSchema>;

export function modelsWithin(offer: Omit<AgentOffer, 'models'>, models: readonly ModelOffer[]) {
  const fitting: ModelOffer[] = [];
  let size = encodedSize({ ...offer, models: [] });
  for (const model of models) {
    if (fitting.length >= MAX_MODELS || !modelOfferSchema.safeParse(model).success) continue;
    // `encodedSize` counts the model's index in the list as its key.
    const added = encodedSize(model) + String(fitting.length).length;
    if (size + added > MAX_OFFER_SIZE) continue;
    size += added;
    fitting.push(model);
  }
  return { models: fitting, leftOut: models.length - fitting.length };
}

export type AgentOffer = Readonly<z.infer<typeof agentOfferSchema>>;

export function offeredFacts(
  description: SystemFacts & { readonly host: string },
): Omit<AgentOffer, 'address' | 'tls' | 'models'> {
  const { host: hostname, framework, frameworkVersion, architecture, processor } = description;
  const { operatingSystem, cores, memoryBytes } = description;
  return { hostname, framework, frameworkVersion, architecture, processor, operatingSystem, cores, memoryBytes };
}
