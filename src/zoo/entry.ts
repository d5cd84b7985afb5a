import type { Network } from './builder.js';
export interface Published {
  readonly parameters?: number | undefined;
  readonly multiplyAccumulates?: number | undefined;
  readonly source: string;
}

export interface ZooEntry {
  readonly name: string;
  readonly title: string;
  readonly paper: string;
  readonly published: Published;
  readonly dimensions: Readonly<Record<string, number>>;
  readonly define: Network;
}
