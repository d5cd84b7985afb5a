import type { KernelFacts } from '../measurement/kernel-facts.js';
import type { Conditions } from '../measurement/conditions.js';

/** The pool's sections are means over the runs. */
export interface KernelTrace extends KernelFacts {
  /** Its place in a run: 7, or 7-0-1 inside of the subgraphs that kernel 7 executes. Kernel 7's time includes it. */
  readonly sequenceIndex: string;
  readonly name: string;
  readonly opName: string;
  readonly executionProvider: string;
  /** Shapes of the outputs, as in [1,64,56,56]; several are separated by semicolons. */
  readonly shape: string;
  readonly inputShape: string;
  /** Element types of the inputs and outputs, separated by semicolons; empty from agents of earlier versions. */
  readonly inputTypes: string;
  readonly outputTypes: string;
  readonly elementType: string;
  readonly runMs: readonly number[];
}

export interface LayerTrace {
  readonly untracedMs: readonly number[];
  readonly tracedMs: readonly number[];
  readonly kernels: readonly KernelTrace[];
  /** The load on the machine during the runs; undefined where the operating system does not report it. */
  readonly conditions?: Conditions | undefined;
}
