// performance.timeOrigin with monotonic time is a wall clock that never steps, so that no span ends before it starts.
// Date.now() has milliseconds only.

/** The zero of process.hrtime, in nanoseconds since 1970. */
const HRTIME_ORIGIN_UNIX_NANO = nanoseconds(performance.timeOrigin + performance.now()) - process.hrtime.bigint();

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n;
}

export function toUnixNano(hrtimeNs: bigint): bigint {
  return HRTIME_ORIGIN_UNIX_NANO + hrtimeNs;
}

export function unixNanoNow(): bigint {
  return toUnixNano(process.hrtime.bigint());
}
