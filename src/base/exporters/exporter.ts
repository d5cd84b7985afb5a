import type { AlignedTable } from '../text-table.js';

export type Exporter<Result> = (result: Result) => string;

export interface TableResult {
  readonly document: unknown;
  /** For spreadsheets. */
  readonly records: {
    readonly keys: readonly string[];
    readonly rows: readonly (readonly (string | number | null | undefined)[])[];
  };
  readonly table: AlignedTable;
  /** Above the table: what to know before its numbers. */
  readonly warnings?: readonly string[];
  readonly notes: readonly string[];
}
