import type { AlignedTable } from '../text-table.js';

/** Writes a result as the text of a file. One module for each format. */
export type Exporter<Result> = (result: Result) => string;

/** A result that can be written as a table. */
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
