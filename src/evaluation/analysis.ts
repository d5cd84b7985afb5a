import { z } from 'zod';
import { provenanceField } from '../agent/provenance.js';
import type { Collection, CollectionDefinition } from '../store/collection.js';
import type { ResultStore } from '../store/result-store.js';

export const MAX_ROWS = 10_000;
const MAX_COLUMNS = 64;
const MAX_NOTES = 100;
const MAX_TEXT = 4096;

const text = z.string().max(MAX_TEXT);

const columnSchema = z.strictObject({
  /** Lower case with underscores, the unit at its end. */
  key: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a key is lower case with underscores'),
  title: text.min(1),
  unit: text.min(1).optional(),
  align: z.enum(['left', 'right']),
});

export const analysisTableSchema = z
  .strictObject({
    columns: z.array(columnSchema).min(1).max(MAX_COLUMNS).readonly(),
    rows: z
      .array(z.record(z.string(), z.union([text, z.number(), z.null()])))
      .max(MAX_ROWS)
      .readonly(),
    notes: z.array(text).max(MAX_NOTES).readonly(),
  })
  .superRefine(({ columns, rows }, context) => {
    const keys = columns.map(({ key }) => key);
    if (new Set(keys).size < keys.length)
      context.addIssue({ code: 'custom', message: 'two columns have the same key' });
    for (const [index, row] of rows.entries()) {
      if (Object.keys(row).length === keys.length && keys.every((key) => Object.hasOwn(row, key))) continue;
      context.addIssue({ code: 'custom', path: ['rows', index], message: 'a row has one cell for each column' });
      return;
    }
  });

export const analysisDocumentSchema = analysisTableSchema.safeExtend({ provenance: provenanceField });

export type AnalysisTable = z.infer<typeof analysisTableSchema>;

export interface ReadableStore extends Pick<
  ResultStore,
  'findMeasurements' | 'listSystems' | 'listMeasurements' | 'listCollections'
> {
  collection<Document extends object>(
    definition: CollectionDefinition<Document>,
  ): Pick<Collection<Document>, 'get' | 'find'>;
}

export interface AnalysisContext {
  /** Its methods throw after the signal has aborted. */
  readonly store: ReadableStore;
  readonly signal: AbortSignal;
}

export interface Analysis<Settings = unknown> {
  readonly name: string;
  readonly description: string;
  readonly settings: z.ZodType<Settings>;
  /** A thrown error ends the analysis with its message. */
  run(settings: Settings, context: AnalysisContext): Promise<AnalysisTable>;
  readonly draw?: (table: AnalysisTable) => string | undefined;
}
