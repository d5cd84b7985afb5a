import type { Network } from './builder.js';

/** How a source says that multiply-accumulates of a transformer were counted. */
export const HOFFMANN = 'multiply-accumulates: the matrix products in appendix F of Hoffmann et al., arXiv:2203.15556';

export interface ZooEntry {
  readonly name: string;
  readonly title: string;
  readonly paper: string;
  readonly parameters?: number | undefined;
  readonly multiplyAccumulates?: number | undefined;
  /** Of the published numbers. */
  readonly source: string;
  readonly dimensions: Readonly<Record<string, number>>;
  readonly define: Network;
}
