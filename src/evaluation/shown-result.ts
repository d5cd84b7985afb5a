import type { TableResult } from '../base/exporters/exporter.js';

export interface ShowOptions {
  readonly wide: boolean;
}

export interface ShownResult {
  readonly result: () => TableResult;
  /** For people. @param options.width columns of the terminal; undefined where there is none */
  readonly text: (options: { readonly color: boolean; readonly width: number | undefined }) => string;
}
