import type { Conditions } from '../measurement/conditions.js';

/** A kernel of a model, over all runs that executed it. */
export interface KernelTrace {
  /** Its place in a run: 7, or 7-0-1 inside of the subgraphs that kernel 7 executes. Kernel 7's time includes it. */
  readonly sequenceIndex: string;
  readonly name: string;
  readonly opName: string;
  readonly executionProvider: string;
  /** Shapes of the outputs, as in [1,64,56,56]; several are separated by semicolons. */
  readonly shape: string;
  readonly inputShape: string;
  readonly elementType: string;
  /** One time for each run that executed the kernel. */
  readonly runMs: readonly number[];
}

/** The kernels of a model's runs, and the cost of tracing them. */
export interface LayerTrace {
  /** Times of whole runs without the runtime's profile, in the order in which they were taken. */
  readonly untracedMs: readonly number[];
  /** Times of whole runs with the runtime's profile. */
  readonly tracedMs: readonly number[];
  /** In the order in which they are executed. */
  readonly kernels: readonly KernelTrace[];
  /** The load on the machine during the runs; undefined where the operating system does not report it. */
  readonly conditions?: Conditions | undefined;
}
