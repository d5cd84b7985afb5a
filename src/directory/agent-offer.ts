import semver from 'semver';
import { z } from 'zod';
import type { ModelManifest } from '../generated/carml/org/dlframework/registry.js';
import { parseHostPort } from '../rpc/loopback.js';

const MAX_MODELS = 1000;

/** What ends up in messages and tables: nothing in it that a terminal would act on. */
const line = (max: number) =>
  z.string().regex(new RegExp(`^[^\\p{C}\\p{Zl}\\p{Zp}]{1,${max}}$`, 'u'), 'not a short line');

const WILDCARDS = ['0.0.0.0', '::'];

/** Whether others can connect to it. */
function isReachable(address: string): boolean {
  const parsed = parseHostPort(address);
  return parsed !== undefined && parsed.port > 0 && !WILDCARDS.includes(parsed.host);
}

const modelSchema = z.custom<ModelManifest>((model) => {
  const { name, version } = model as ModelManifest;
  return line(100).safeParse(name).success && line(100).safeParse(version).success;
}, 'a model without a name or a version');

/** What an agent says of itself when it registers: enough to see whether an evaluation may run there. */
export const agentOfferSchema = z.strictObject({
  /** host:port where it serves; one agent per address. */
  address: line(300).refine(isReachable, 'not HOST:PORT of one machine'),
  /** Whether it is to be spoken to over TLS. */
  tls: z.boolean(),
  hostname: line(300),
  framework: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/i, 'not the name of a framework'),
  frameworkVersion: line(100).refine((version) => semver.valid(version) !== null, 'not a semantic version'),
  /** As Node.js names it: x64, arm64. */
  architecture: line(100),
  processor: line(300),
  operatingSystem: line(300),
  cores: z.int().min(1),
  memoryBytes: z.number().positive(),
  /** What it can open by name. */
  models: z.array(modelSchema).max(MAX_MODELS),
});

export type AgentOffer = Readonly<z.infer<typeof agentOfferSchema>>;
