import type { GraphBuilder } from './builder.js';

/** What was published about an architecture, to check the built graph against. */
export interface Published {
  /** Trainable parameters; a tied one counts once, batch normalization's running statistics do not. */
  readonly parameters: number;
  /** Multiply-accumulates of one inference at the entry's `dimensions`, to the nearest million where the source rounds. */
  readonly multiplyAccumulates: number;
  /** Where both numbers come from. */
  readonly source: string;
}

/** One architecture of the zoo. */
export interface ZooEntry {
  /** What follows `zoo:` in a manifest or on the command line. */
  readonly name: string;
  readonly title: string;
  /** The paper that introduced it. */
  readonly paper: string;
  readonly published: Published;
  /** What the symbolic dimensions are bound to unless somebody says otherwise. */
  readonly dimensions: Readonly<Record<string, number>>;
  /** Adds inputs, layers and outputs. */
  readonly define: (graph: GraphBuilder) => void;
}
