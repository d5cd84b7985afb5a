import { Option } from 'commander';

/** Names the queue for commands without `--queue`. A password in a variable does not show in lists of processes. */
const QUEUE_VARIABLE = 'MLMODELSCOPE_QUEUE';

/** @param use completes the sentence "the RabbitMQ broker (amqp://HOST/VHOST or amqps://) that" */
export function queueOption(use: string): Option {
  const option = new Option('--queue <uri>', `the RabbitMQ broker (amqp://HOST/VHOST or amqps://) that ${use}`);
  // An empty variable counts as unset, like that of the store.
  return process.env[QUEUE_VARIABLE] === '' ? option : option.env(QUEUE_VARIABLE);
}
