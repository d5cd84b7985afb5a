import type { TableResult } from '../base/exporters/exporter.js';
import type { Page } from '../base/exporters/page.js';

export interface ShowOptions {
  readonly wide: boolean;
}

export interface ShownResult {
  readonly result: () => TableResult;
  /** For browsers; without it, a page has the table alone. */
  readonly page?: () => Page;
  /** @param options.width columns of the terminal; undefined where there is none */
  readonly text: (options: { readonly color: boolean; readonly width: number | undefined }) => string;
}
