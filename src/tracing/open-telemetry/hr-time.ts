import type { HrTime } from '@opentelemetry/api';

export function toHrTime(unixNano: bigint): HrTime {
  return [Number(unixNano / 1_000_000_000n), Number(unixNano % 1_000_000_000n)];
}
