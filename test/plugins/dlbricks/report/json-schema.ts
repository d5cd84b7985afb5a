import { reportSchema, reportsSchema } from '../../../../plugins/dlbricks/report/report-schema.js';
import { z } from 'zod';

const UNITS =
  'Times are in milliseconds where a name ends in _ms, in seconds where it ends in _seconds. null: not known.';

/** JSON Schema (draft 2020-12) of the document that `--export-json` writes; docs/report.schema.json is a copy. */
export function reportJsonSchema(): Readonly<Record<string, unknown>> {
  return { ...z.toJSONSchema(reportSchema), title: 'Report of a dlbricks evaluation', description: UNITS };
}

export function reportsJsonSchema(): Readonly<Record<string, unknown>> {
  return { ...z.toJSONSchema(reportsSchema), title: 'Reports of several dlbricks evaluations', description: UNITS };
}
