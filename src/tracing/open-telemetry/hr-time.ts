import type { HrTime } from '@opentelemetry/api';

/** A time as seconds and nanoseconds, for OpenTelemetry's API. */
export function hrTimeOf(unixNano: bigint): HrTime {
  return [Number(unixNano / 1_000_000_000n), Number(unixNano % 1_000_000_000n)];
}
