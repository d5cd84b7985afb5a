// Between the messages of proto/mlmodelscope/evaluation/v1/event.proto and this project's own types.
import { PlatformError } from '../../base/errors.js';
import { schemaProblems } from '../../base/schema-problems.js';
import * as wire from '../../generated/mlmodelscope/evaluation/v1/event.js';
import { type LoggedEvent, type PlatformEvent, platformEventSchema } from '../event.js';

const LEVELS = { info: wire.Note_Level.INFO, warning: wire.Note_Level.WARNING } as const;

/** An event as a plugin tells it; the platform numbers it. */
export function toWireEvent(event: PlatformEvent): wire.Event {
  return { sequence: 0n, time: undefined, event: payloadOf(event) };
}

export function toWireLogged({ sequence, at, event }: LoggedEvent): wire.Event {
  return { sequence: BigInt(sequence), time: new Date(at), event: payloadOf(event) };
}

function payloadOf(event: PlatformEvent): wire.Event['event'] {
  switch (event.kind) {
    case 'waiting':
      return { $case: 'waiting', value: event };
    case 'started':
      return { $case: 'started', value: event };
    case 'planned':
      return { $case: 'planned', value: event };
    case 'measuring':
      return { $case: 'measuring', value: event };
    case 'estimate':
      return { $case: 'estimate', value: event };
    case 'note':
      return { $case: 'note', value: { level: LEVELS[event.level], message: event.message } };
    case 'done':
      return { $case: 'done', value: event };
    case 'failed':
      return { $case: 'failed', value: event };
    case 'cancelled':
      return { $case: 'cancelled', value: {} };
  }
}

function plain({ event }: wire.Event): unknown {
  if (event?.$case !== 'note') return event === undefined ? undefined : { kind: event.$case, ...event.value };
  const { level, message } = event.value;
  return { kind: 'note', level: level === LEVELS.warning ? 'warning' : 'info', message };
}

/**
 * What happened, checked: plugins and servers may be of any make.
 *
 * @throws PlatformError `usage` for what is no event
 */
export function fromWireEvent(message: wire.Event | undefined): PlatformEvent {
  const parsed = platformEventSchema.safeParse(message === undefined ? undefined : plain(message));
  if (parsed.success) return parsed.data;
  throw new PlatformError('usage', `not an event: ${schemaProblems(parsed.error).join('; ')}`);
}

/**
 * An event of a server; undefined for a kind that only a newer version knows.
 *
 * @throws PlatformError as {@link fromWireEvent}
 */
export function fromWireLogged(message: wire.Event | undefined): LoggedEvent | undefined {
  if (message?.event === undefined) return undefined;
  const at = (message.time ?? new Date(0)).toISOString();
  return { sequence: Number(message.sequence), at, event: fromWireEvent(message) };
}
