import { groupedBy } from '../base/grouped-by.js';
import { sumOf } from '../base/sum-of.js';
import { isOutermost } from '../measurement/kernel-facts.js';
import { trimmedMean } from '../measurement/trimmed-mean.js';
import type { KernelTrace, LayerTrace } from './layer-trace.js';

export interface KernelRow extends Omit<KernelTrace, 'runMs' | 'inputTypes' | 'outputTypes'> {
  readonly latencyMs: number;
  /** Share of the sum of all kernels, 0 to 1. The share of an inner kernel is a part of its outer kernel's. */
  readonly share: number;
  readonly runs: number;
}

export interface OperatorRow {
  readonly opName: string;
  readonly kernels: number;
  readonly latencyMs: number;
  readonly share: number;
}

export interface KernelTable {
  readonly modelMs: number;
  /** Time of the whole model while the runtime times its kernels. */
  readonly tracedModelMs: number;
  /** Cost of tracing for the whole model; may be below zero where it is less than the machine's noise. */
  readonly overheadMs: number;
  readonly kernelsMs: number;
  readonly operators: readonly OperatorRow[];
  readonly rows: readonly KernelRow[];
}

const slowestFirst = (a: { readonly latencyMs: number }, b: { readonly latencyMs: number }): number =>
  b.latencyMs - a.latencyMs;

export function kernelTable({ untracedMs, tracedMs, kernels }: LayerTrace): KernelTable {
  const modelMs = trimmedMean(untracedMs);
  const tracedModelMs = trimmedMean(tracedMs);
  const timed = kernels.map((kernel) => ({ kernel, latencyMs: trimmedMean(kernel.runMs) }));
  const outermost = timed.filter(({ kernel }) => isOutermost(kernel));
  const kernelsMs = sumOf(outermost.map(({ latencyMs }) => latencyMs));
  const computeShare = (latencyMs: number): number => (kernelsMs === 0 ? 0 : latencyMs / kernelsMs);
  const operators = [...groupedBy(outermost, ({ kernel }) => kernel.opName)].map(([opName, of]): OperatorRow => {
    const latencyMs = sumOf(of.map((each) => each.latencyMs));
    return { opName, kernels: of.length, latencyMs, share: computeShare(latencyMs) };
  });
  const rows = timed.map(({ kernel: { runMs, inputTypes: _, outputTypes: __, ...kernel }, latencyMs }): KernelRow => {
    return { ...kernel, latencyMs, share: computeShare(latencyMs), runs: runMs.length };
  });
  return {
    modelMs,
    tracedModelMs,
    overheadMs: tracedModelMs - modelMs,
    kernelsMs,
    operators: operators.sort(slowestFirst),
    rows: rows.sort(slowestFirst),
  };
}
