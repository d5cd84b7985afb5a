import { type AsyncMessage, type Envelope, type MessageBody, type SyncMessage } from 'rabbitmq-client';
import { ownValue } from '../../base/own-value.js';
import { sha256Of } from '../../base/sha256.js';
import { type FailedWork, MAX_DELIVERIES, type WorkMessage } from '../work-queue.js';
import { FAILED, classIn, classOfQueue } from './topology.js';

const REASON = 'x-mlmodelscope-reason';
const SYSTEM = 'x-mlmodelscope-system';
const FAILED_AT = 'x-mlmodelscope-failed-at';

const DELIVERY_COUNT = 'x-delivery-count';

/** The client has already decoded texts and JSON. JSON that is too deep to be written again is no work. */
function encodeBody(body: MessageBody): Uint8Array {
  if (Buffer.isBuffer(body)) return body;
  try {
    return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  } catch {
    return new Uint8Array();
  }
}

/** A message without an id, which is not this project's, gets an id from its content. */
export function workIn({ messageId, body: carried }: AsyncMessage | SyncMessage): WorkMessage {
  const body = encodeBody(carried);
  return { id: messageId ?? sha256Of(body).slice(0, 32), body };
}

export function deliveriesBefore({ headers }: AsyncMessage): number {
  const count: unknown = headers?.[DELIVERY_COUNT];
  return typeof count === 'number' ? count : 0;
}

export function envelopeTo(queue: string, { id }: WorkMessage): Envelope {
  return { routingKey: queue, messageId: id, durable: true };
}

export function envelopeOfFailed({ message, system, reason, failedAt }: FailedWork): Envelope {
  const headers = { [REASON]: reason, [SYSTEM]: system, [FAILED_AT]: failedAt };
  return { exchange: FAILED, routingKey: '', messageId: message.id, durable: true, headers };
}

/** The broker's own record of a message that it gave up. */
function deathIn(headers: SyncMessage['headers']): { readonly queue?: unknown; readonly time?: unknown } {
  const deaths: unknown = headers?.['x-death'];
  const [first] = Array.isArray(deaths) ? (deaths as readonly unknown[]) : [];
  return typeof first === 'object' && first !== null ? first : {};
}

export function failedIn(carried: AsyncMessage | SyncMessage): FailedWork {
  const { headers, routingKey } = carried;
  const text = (name: string): string | undefined => {
    const value: unknown = headers && ownValue(headers, name);
    return typeof value === 'string' ? value : undefined;
  };
  const { queue, time } = deathIn(headers);
  return {
    message: workIn(carried),
    system: classIn(text(SYSTEM) ?? '') ?? classOfQueue(typeof queue === 'string' ? queue : routingKey),
    reason:
      text(REASON) ?? `${MAX_DELIVERIES} times in a row, the agent that worked on it ended or lost its connection`,
    failedAt: text(FAILED_AT) ?? (typeof time === 'number' ? new Date(time * 1000).toISOString() : undefined),
  };
}
