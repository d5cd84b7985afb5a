import type { Measurement } from '../../../src/plugin-api.js';

type Failure = Extract<Measurement['outcome'], { readonly kind: 'failure' }>;

const REMEDIES: Readonly<Record<Failure['reason'], string>> = {
  unsupported: 'try the other --cut, or a larger --granularity, which keeps more of the graph together',
  out_of_memory:
    'use smaller dimensions, a machine with more memory, or a higher protocol.memory_limit_gib in a manifest',
  timeout: 'use smaller dimensions, or a higher protocol.time_limit_ms in a manifest',
  crashed: 'measure it again with --remeasure failed; if it ends so again, try the other --cut',
  run_failed: 'give the inputs of the model valid values with --input NAME=VALUE, or try the other --cut',
};

export function failureText({ reason, message }: Failure): string {
  return `${reason}: ${message.replace(/[.\s]+$/, '')}; ${REMEDIES[reason]}`;
}
