/** One execution of a kernel, as the runtime itself timed it. */
export interface ProfiledKernel {
  /** Name of the node that the runtime executes, after its own graph optimizer. */
  readonly name: string;
  readonly opType: string;
  readonly executionProvider: string;
  /** Since the start of the run that it is in. */
  readonly startNs: number;
  readonly durationNs: number;
  readonly inputDims: readonly (readonly number[])[];
  readonly outputDims: readonly (readonly number[])[];
  /** Element types of the same tensors. */
  readonly inputTypes: readonly string[];
  readonly outputTypes: readonly string[];
  /** Element type of its first output. */
  readonly elementType: string;
  /** Kernels of the subgraphs of If, Loop and Scan that it executed. Its own time includes theirs. */
  readonly inner: readonly ProfiledKernel[];
}

/** One run of a model. */
export interface ProfiledRun {
  /** Time of the whole run, as the runtime timed it. */
  readonly durationNs: number;
  /** In the order in which they were executed. */
  readonly kernels: readonly ProfiledKernel[];
}
