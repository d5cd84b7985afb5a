import type { TableResult } from '../base/exporters/exporter.js';

/** How much of a result is shown. */
export interface ShowOptions {
  /** All columns and figures. */
  readonly wide: boolean;
}

/** A result in the form that people read, and in the form that is exported. */
export interface ShownResult {
  readonly result: () => TableResult;
  /** For people. @param options.width columns of the terminal; undefined where there is none */
  readonly text: (options: { readonly color: boolean; readonly width: number | undefined }) => string;
}
