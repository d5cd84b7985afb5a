/** The limits of an input. They are generous: a busy machine must not cause finds. */
export interface Limits {
  /** Processor time for any input, and as much again for each mebibyte of it. */
  readonly cpuMs: number;
  /** After this long the process counts as hanging. */
  readonly hangMs: number;
  /** Memory of JavaScript's objects. */
  readonly heapBytes: number;
  /** Memory of the process in all. */
  readonly peakBytes: number;
}

export const LIMITS: Limits = { cpuMs: 15_000, hangMs: 60_000, heapBytes: 512 * 2 ** 20, peakBytes: 1024 * 2 ** 20 };

/** Processor time for an input of this size. */
export function cpuLimitMs({ cpuMs }: Limits, byteLength: number): number {
  return cpuMs * (1 + byteLength / 2 ** 20);
}
