import { join } from 'node:path';
import { adviceSchema } from '../../plugins/dlbricks/advise/advice-result.js';
import { agreementSchema } from '../../plugins/dlbricks/agree/agreement-result.js';
import { comparisonSchema } from '../../plugins/dlbricks/compare/comparison-schema.js';
import { recipeSchema } from '../../plugins/dlbricks/bricks/recipe.js';
import { FORMAT as RESULTS_FORMAT } from '../../plugins/dlbricks/exchange/results-file.js';
import { suiteSchema } from '../../plugins/dlbricks/exchange/suite.js';
import dlbricks from '../../plugins/dlbricks/index.js';
import { reportsJsonSchema } from '../plugins/dlbricks/report/json-schema.js';
import { sharingSchema } from '../../plugins/dlbricks/sharing/sharing-result.js';
import { sweepSchema } from '../../plugins/dlbricks/sweep/sweep-result.js';
import { traceReportSchema } from '../../plugins/dlbricks/traces/trace-report.js';
import latency from '../../plugins/latency/index.js';
import { layersSchema } from '../../plugins/dlbricks/work/layer-table.js';
import load from '../../plugins/load/index.js';
import { loadResultSchema } from '../../plugins/load/load-result.js';
import { latencyResultSchema } from '../../plugins/latency/latency-result.js';
import { z } from 'zod';
import { provenanceField } from '../../src/agent/provenance.js';
import { snakeCaseSchema } from '../../src/base/snake-case.js';
import { documentJsonSchema, DOCUMENT_KINDS } from '../../src/cli/json-documents.js';
import { analysisDocumentSchema } from '../../src/evaluation/analysis.js';
import { evaluationsJsonSchema } from './evaluations-schema.js';
import { systemsResultSchema } from '../../src/evaluation/systems-result.js';
import { kindJsonSchema } from '../../src/manifest/load.js';
import { measurementSchema } from '../../src/measurement/measurement.js';
import { exportedLineJsonSchema } from '../../src/store/json-lines.js';

export const SCHEMAS_FOLDER = join(import.meta.dirname, '../../../schemas');

/** A results file as this version writes it. */
const resultsSchema = z.strictObject({
  format: z.literal(RESULTS_FORMAT),
  provenance: provenanceField,
  measurements: z.array(measurementSchema).min(1),
});

const evaluations = [dlbricks, latency, load].flatMap(({ evaluation }) => evaluation ?? []);

const MANIFESTS: Readonly<Record<string, object>> = {
  'evaluation-manifest': evaluationsJsonSchema(evaluations),
  'model-manifest': kindJsonSchema('model'),
  'hardware-manifest': kindJsonSchema('hardware'),
  'software-manifest': kindJsonSchema('software'),
  'dataset-manifest': kindJsonSchema('dataset'),
};

/** Files that `dlbricks` writes; docs/report.schema.json is one more. */
const FILES: Readonly<Record<string, object>> = {
  suite: z.toJSONSchema(suiteSchema),
  recipe: z.toJSONSchema(recipeSchema),
  results: snakeCaseSchema(z.toJSONSchema(resultsSchema)) as object,
  agreement: z.toJSONSchema(agreementSchema),
  comparison: z.toJSONSchema(comparisonSchema),
  sharing: z.toJSONSchema(sharingSchema),
  sweep: z.toJSONSchema(sweepSchema),
  layers: z.toJSONSchema(layersSchema),
  advice: z.toJSONSchema(adviceSchema),
  reports: reportsJsonSchema(),
  'trace-report': z.toJSONSchema(traceReportSchema),
  latency: z.toJSONSchema(latencyResultSchema),
  load: z.toJSONSchema(loadResultSchema),
};

/** The schema of each line that `store export` writes. */
const LINES: Readonly<Record<string, object>> = { 'store-export-line': exportedLineJsonSchema() };

const TABLES: Readonly<Record<string, object>> = {
  analysis: z.toJSONSchema(analysisDocumentSchema),
  systems: z.toJSONSchema(systemsResultSchema),
};

/** Every published schema by its name: `NAME.schema.json` in the folder. */
export const PUBLISHED: ReadonlyMap<string, object> = new Map([
  ...Object.entries({ ...MANIFESTS, ...FILES, ...LINES, ...TABLES }),
  ...DOCUMENT_KINDS.map((kind): [string, object] => [kind, documentJsonSchema(kind)]),
]);

/** The content of a schema's file. */
export function schemaText(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
