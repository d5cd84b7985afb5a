import { Option } from 'commander';

/** Names the queue for commands that are not told otherwise; a password there shows in no list of processes. */
const QUEUE_VARIABLE = 'MLMODELSCOPE_QUEUE';

/** @param use what the command does with it, after "the RabbitMQ broker that" */
export function queueOption(use: string): Option {
  return new Option('--queue <uri>', `the RabbitMQ broker that ${use}: amqp://HOST/VHOST or amqps://`).env(
    QUEUE_VARIABLE,
  );
}
