import { z } from 'zod';
import { attendedMs } from '../base/clock.js';
import { PlatformError } from '../base/errors.js';
import { schemaProblems } from '../base/schema-problems.js';
import { readText } from '../store/stored-text.js';
import type { PlatformEnd, PluginMessage, Registration } from '../evaluation/link/link.js';

/** A manifest's schema is a few kilobytes. */
const MAX_SCHEMA_CHARACTERS = 1 << 20;
const MAX_SLOTS = 64;

const isObject = (json: string): boolean => readText(json, z.looseObject({})).ok;

const registrationSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'a name has up to 100 letters, digits and . _ + -'),
  version: z.string().min(1).max(100),
  manifestSchemaJson: z.string().max(MAX_SCHEMA_CHARACTERS).refine(isObject, 'a JSON Schema is a JSON object'),
  slots: z.int().min(1).max(MAX_SLOTS),
});

/** More than the bytes of the HTTP/2 frames on a connection without messages during a lease. */
const MIN_PROGRESS_BYTES = 1024;

/** A timer may end this much before its time. */
const ROUNDING_MS = 2;

/**
 * The plugin's messages, while each comes within the lease after the previous one, or its bytes keep coming: renewals
 * wait behind a large message. @param receivedBytes counts all bytes, including those of incomplete messages
 */
export async function* leased(
  link: PlatformEnd,
  leaseMs: number,
  receivedBytes: () => number,
): AsyncGenerator<PluginMessage> {
  let lease: NodeJS.Timeout | undefined;
  const wait = (): void => {
    const before = receivedBytes();
    const dueMs = attendedMs() + leaseMs;
    lease = setTimeout(() => {
      // Messages may have waited while this process was suspended or busy.
      const isLate = attendedMs() < dueMs - ROUNDING_MS;
      if (isLate || receivedBytes() - before >= MIN_PROGRESS_BYTES) wait();
      else link.close();
    }, leaseMs);
  };
  wait();
  try {
    for await (const message of link) {
      clearTimeout(lease);
      // The time to handle a message does not count as the plugin's delay.
      yield message;
      wait();
    }
  } finally {
    clearTimeout(lease);
  }
}

/** @throws PlatformError `usage` if the first message is no valid registration, `timeout` if none comes */
export async function registrationIn(messages: AsyncIterator<PluginMessage>): Promise<Registration> {
  const first = await messages.next();
  if (first.done === true) throw new PlatformError('timeout', 'the plugin left without a registration; send it first');
  const refused = (problem: string): PlatformError =>
    new PlatformError('usage', `the plugin cannot be registered: ${problem}`);
  if (first.value.$case !== 'registration') throw refused('a registration has to be the first message');
  const parsed = registrationSchema.safeParse(first.value.value);
  if (!parsed.success) throw refused(schemaProblems(parsed.error).join('; '));
  return parsed.data;
}
