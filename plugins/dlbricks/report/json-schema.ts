import { z } from '../../../src/plugin-api.js';
import { reportSchema } from './report.js';

/** JSON Schema (draft 2020-12) of the document that `--export-json` writes; docs/report.schema.json is a copy. */
export function reportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    ...z.toJSONSchema(reportSchema),
    title: 'Report of a dlbricks evaluation',
    description:
      'Times are in milliseconds where a name ends in _ms, in seconds where it ends in _seconds. null: not known.',
  };
}
