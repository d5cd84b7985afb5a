import type { AlignedTable } from '../text-table.js';

export type Exporter<Result> = (result: Result) => string;

export interface TableResult {
  readonly document: unknown;
  /** For spreadsheets. */
  readonly records: {
    readonly keys: readonly string[];
    /** Numbers in full precision; null and undefined stand for unknown values. */
    readonly rows: readonly (readonly (string | number | null | undefined)[])[];
  };
  /** For people. */
  readonly table: AlignedTable;
  /** Warnings above the table, in sentences: what to know before its numbers. */
  readonly warnings?: readonly string[];
  /** Notes below the table, in sentences. */
  readonly notes: readonly string[];
}
