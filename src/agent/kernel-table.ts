import { trimmedMean } from '../measurement/trimmed-mean.js';
import type { KernelTrace, LayerTrace } from './layer-trace.js';

export interface LayerRow extends Omit<KernelTrace, 'runMs'> {
  /** Trimmed mean over the runs, as the runtime timed it. */
  readonly latencyMs: number;
  /** The same without the cost of tracing. */
  readonly untracedLatencyMs: number;
  /** Share of the sum of all kernels, 0 to 1. The share of an inner kernel is a part of its outer kernel's. */
  readonly share: number;
  readonly runs: number;
}

/** Latencies of a model's kernels, with the cost of tracing them. All times are trimmed means in milliseconds. */
export interface KernelTable {
  /** Time of the whole model without tracing. */
  readonly modelMs: number;
  /** Time of the whole model while the runtime times its kernels. */
  readonly tracedModelMs: number;
  /** Cost of tracing for the whole model; may be below zero where it is less than the machine's noise. */
  readonly overheadMs: number;
  /** Sum of the kernels' times while they are traced; an outer kernel's time includes its inner kernels. */
  readonly kernelsMs: number;
  readonly rows: readonly LayerRow[];
}

/**
 * Makes a table from a trace. The runtime writes the record of a kernel after it has timed the kernel, so most of the
 * cost of tracing lies between the kernels. If the kernels add up to more than the whole model takes without tracing,
 * then tracing has slowed the kernels as well. In this case each kernel is corrected by the same factor, because
 * kernels cannot take longer than their model.
 */
export function kernelTable({ untracedMs, tracedMs, kernels }: LayerTrace): KernelTable {
  const modelMs = trimmedMean(untracedMs);
  const tracedModelMs = trimmedMean(tracedMs);
  const latencies = kernels.map(({ runMs }) => trimmedMean(runMs));
  const kernelsMs = kernels.reduce((sum, { sequenceIndex }, i) => {
    return sequenceIndex.includes('-') ? sum : sum + (latencies[i] ?? 0);
  }, 0);
  const correction = kernelsMs > modelMs ? modelMs / kernelsMs : 1;
  return {
    modelMs,
    tracedModelMs,
    overheadMs: tracedModelMs - modelMs,
    kernelsMs,
    rows: kernels.map(({ runMs, ...kernel }, i): LayerRow => {
      const latencyMs = latencies[i] ?? 0;
      const share = kernelsMs === 0 ? 0 : latencyMs / kernelsMs;
      return { ...kernel, latencyMs, untracedLatencyMs: latencyMs * correction, share, runs: runMs.length };
    }),
  };
}
