import { messageOf, PlatformError, readJsonFile, schemaProblems, z } from '../../../src/plugin-api.js';
import { type Report, reportSchema, reportsSchema } from '../report/report-schema.js';

/** A thousand models with ten thousand bricks take some megabytes. */
const MAX_BYTES = 256 * 2 ** 20;

/** How many problems of one file a message lists. */
const MAX_PROBLEMS = 5;

/** @throws PlatformError `usage` where the file is missing or no document of `run`, `validate` or `compose` */
export async function readReports(path: string): Promise<readonly Report[]> {
  const remedy = "'dlbricks run', 'validate' and 'compose' write one with --export-json";
  let content: unknown;
  try {
    content = await readJsonFile(path, MAX_BYTES);
  } catch (error) {
    throw new PlatformError('usage', `${path}: not a readable report (${messageOf(error)}); ${remedy}`);
  }
  const hasSeveral = z.looseObject({ reports: z.array(z.unknown()) }).safeParse(content).success;
  const parsed = hasSeveral ? reportsSchema.safeParse(content) : reportSchema.safeParse(content);
  if (parsed.success) return 'reports' in parsed.data ? parsed.data.reports : [parsed.data];
  const problems = schemaProblems(parsed.error, { whole: 'report', most: MAX_PROBLEMS });
  throw new PlatformError('usage', [`${path}: not a report; ${remedy}`, ...problems].join('\n'));
}
