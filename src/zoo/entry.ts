import type { GraphBuilder } from './builder.js';

/** Published figures of an architecture, to check the built graph. */
export interface Published {
  /** Trainable parameters; a tied one counts once, batch normalization's running statistics do not. */
  readonly parameters?: number | undefined;
  /** Multiply-accumulates of one inference at the entry's `dimensions`, as many digits as the source has. */
  readonly multiplyAccumulates?: number | undefined;
  /** Source of the numbers. */
  readonly source: string;
}

/** One architecture of the zoo. */
export interface ZooEntry {
  /** The name after `zoo:` in a manifest or on the command line. */
  readonly name: string;
  readonly title: string;
  /** The paper that introduced the architecture. */
  readonly paper: string;
  readonly published: Published;
  /** Default sizes of the symbolic dimensions. */
  readonly dimensions: Readonly<Record<string, number>>;
  /** Adds inputs, layers and outputs. */
  readonly define: (graph: GraphBuilder) => void;
}
