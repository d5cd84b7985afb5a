import type { Duration } from '../generated/google/protobuf/duration.js';

export function toWireDuration(ms: number): Duration {
  const seconds = Math.floor(ms / 1000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1000) * 1e6) };
}

export function fromWireDuration(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}
