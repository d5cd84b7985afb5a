import type { Connection } from 'rabbitmq-client';
import { MAX_DELIVERIES } from '../work-queue.js';

type QueueParams = Exclude<Parameters<Connection['queueDeclare']>[0], string | undefined>;
type ExchangeParams = Parameters<Connection['exchangeDeclare']>[0];

const WORK_PREFIX = 'mlmodelscope.work.';

/** The exchange for work that was given up. It passes the work to the queue of this name, and to all listeners. */
export const FAILED = 'mlmodelscope.failed';

export const FAILED_EXCHANGE: ExchangeParams = { exchange: FAILED, type: 'fanout', durable: true };

/** Listing this queue counts as a delivery, and by default RabbitMQ 4 drops messages after 20 deliveries. */
export const FAILED_QUEUE: QueueParams = {
  queue: FAILED,
  durable: true,
  arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000_000_000 },
};

export const FAILED_BINDING = { exchange: FAILED, queue: FAILED };

/** Keeps a message that was given up until the queue of failed work has it. The first delivery does not count. */
export function workQueue(system: string): QueueParams {
  return {
    queue: `${WORK_PREFIX}${system}`,
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': MAX_DELIVERIES - 1,
      'x-dead-letter-exchange': FAILED,
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  };
}

/** A class is a fingerprint. Others may write anything into a message. */
const CLASS = /^[\w-]{1,64}$/;

export function classIn(text: string): string | undefined {
  return CLASS.test(text) ? text : undefined;
}

export function classOfQueue(queue: string): string {
  return (queue.startsWith(WORK_PREFIX) ? classIn(queue.slice(WORK_PREFIX.length)) : undefined) ?? '';
}
