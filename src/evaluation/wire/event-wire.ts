import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { PlatformError } from '../../base/errors.js';
import { schemaProblems } from '../../base/schema-problems.js';
import * as wire from '../../generated/mlmodelscope/evaluation/v1/event.js';
import { toWireEnum } from '../../rpc/wire-enum.js';
import {
  type LoggedEvent,
  type PlatformEvent,
  platformEventSchema,
  type PluginEvent,
  pluginEventSchema,
} from '../event.js';
import type { z } from 'zod';

export function toWireEvent(event: PlatformEvent): wire.Event {
  return { sequence: 0n, time: undefined, event: toWirePayload(event) };
}

export function toWireLogged({ sequence, at, event }: LoggedEvent): wire.Event {
  return { sequence: BigInt(sequence), time: new Date(at), event: toWirePayload(event) };
}

const DONE = 9;
const RESULT_JSON = 1;

/**
 * A last event in wire format up to its result: those bytes come next, so they are encoded only once, and never copied.
 *
 * @param field number of the field that the event is in
 */
export function headOfDone({ sequence, at, event }: LoggedEvent, resultBytes: number, field: number): Uint8Array {
  const done = wire.Done.encode({
    resultJson: '',
    partial: event.kind === 'done' && event.partial,
    resultWithheld: false,
  });
  const around = wire.Event.encode({ sequence: BigInt(sequence), time: new Date(at), event: undefined });
  let head = done.tag(RESULT_JSON, WireType.LengthDelimited).uint32(resultBytes).finish();
  for (const [number, before] of [
    [DONE, around],
    [field, new BinaryWriter()],
  ] as const) {
    head = before
      .tag(number, WireType.LengthDelimited)
      .uint32(head.length + resultBytes)
      .raw(head)
      .finish();
  }
  return head;
}

/** Parts are sent before their event. */
export function toWireResultPart({ sequence, at }: LoggedEvent, json: string): wire.Event {
  const event = { $case: 'resultPart', value: { json } } as const;
  return { sequence: BigInt(sequence - 1), time: new Date(at), event };
}

export function toWireWithheld(logged: LoggedEvent): wire.Event {
  const { event, ...rest } = toWireLogged(logged);
  if (event?.$case !== 'done') return { ...rest, event };
  return { ...rest, event: { $case: 'done', value: { ...event.value, resultJson: '', resultWithheld: true } } };
}

function toWirePayload(event: PlatformEvent): wire.Event['event'] {
  switch (event.kind) {
    case 'estimate':
      return { $case: 'estimate', value: toWireEstimate(event) };
    case 'note':
      return { $case: 'note', value: { level: toWireEnum(wire.Note_Level, event.level), message: event.message } };
    case 'done':
      return {
        $case: 'done',
        value: { resultJson: event.resultJson ?? '', partial: event.partial, resultWithheld: false },
      };
    default:
      return { $case: event.kind, value: event } as wire.Event['event'];
  }
}

function toWireEstimate({ percentiles = [], ...event }: Extract<PlatformEvent, { readonly kind: 'estimate' }>) {
  return { ...event, percentiles: percentiles.map(({ reason = '', ...percentile }) => ({ ...percentile, reason })) };
}

function plain({ event }: wire.Event): unknown {
  if (event === undefined) return undefined;
  switch (event.$case) {
    case 'estimate': {
      const { percentiles, ...estimate } = event.value;
      if (percentiles.length === 0) return { kind: 'estimate', ...estimate };
      const known = percentiles.map(({ reason, ...percentile }) => {
        return reason === '' ? percentile : { ...percentile, reason };
      });
      return { kind: 'estimate', ...estimate, percentiles: known };
    }
    case 'note': {
      const { level, message } = event.value;
      return { kind: 'note', level: level === wire.Note_Level.WARNING ? 'warning' : 'info', message };
    }
    case 'done': {
      const { resultJson, partial } = event.value;
      return { kind: 'done', partial, ...(resultJson === '' ? {} : { resultJson }) };
    }
    default:
      return { kind: event.$case, ...event.value };
  }
}

function checked<Event>(message: wire.Event | undefined, schema: z.ZodType<Event>): Event {
  const parsed = schema.safeParse(message === undefined ? undefined : plain(message));
  if (parsed.success) return parsed.data;
  throw new PlatformError('usage', `not an event: ${schemaProblems(parsed.error).join('; ')}`);
}

/** Plugins are untrusted. @throws PlatformError `usage` for an event that is invalid, or only the platform's */
export function fromWirePluginEvent(message: wire.Event | undefined): PluginEvent {
  return checked(message, pluginEventSchema);
}

/**
 * Returns undefined for a part of a result, and for a kind that only a newer version knows.
 *
 * @throws PlatformError `usage` for a message that is not an event
 */
export function fromWireLogged(message: wire.Event | undefined): LoggedEvent | undefined {
  if (message?.event === undefined || message.event.$case === 'resultPart') return undefined;
  const at = (message.time ?? new Date(0)).toISOString();
  return { sequence: Number(message.sequence), at, event: checked(message, platformEventSchema) };
}
