import type { KernelFacts } from '../measurement/kernel-facts.js';

export interface ProfiledKernel extends KernelFacts {
  readonly name: string;
  readonly opType: string;
  readonly executionProvider: string;
  readonly startNs: number;
  readonly durationNs: number;
  readonly inputDims: readonly (readonly number[])[];
  readonly outputDims: readonly (readonly number[])[];
  readonly inputTypes: readonly string[];
  readonly outputTypes: readonly string[];
  readonly elementType: string;
  /** Of the subgraphs of If, Loop and Scan. A kernel's own time includes theirs. */
  readonly inner: readonly ProfiledKernel[];
}

export interface ProfiledRun {
  readonly durationNs: number;
  readonly kernels: readonly ProfiledKernel[];
}
