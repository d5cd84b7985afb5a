import {
  messageOf,
  PlatformError,
  readJsonFile,
  runtimeText,
  schemaProblems,
  stackText,
  z,
} from '../../../src/plugin-api.js';
import { type Report, reportSchema, reportsSchema } from '../report/report-schema.js';

/** A thousand models with ten thousand bricks take some megabytes. */
const MAX_BYTES = 256 * 2 ** 20;

const MAX_PROBLEMS = 5;

/** all.json#3fa9c2e1 */
const WITH_SYSTEM = /^(.+)#([0-9a-f]{4,64})$/;

/** @throws PlatformError `usage` where the file is missing, no report, or has no such system */
export async function readReports(reference: string): Promise<readonly Report[]> {
  const [, path = reference, digits] = WITH_SYSTEM.exec(reference) ?? [];
  const reports = await readDocument(path);
  if (digits === undefined) return reports;
  const found = reports.filter(({ system }) => system.fingerprint.startsWith(digits));
  if (found.length > 0) return found;
  const systems = new Map(reports.map(({ system }) => [system.fingerprint.slice(0, SHOWN_DIGITS), system]));
  const list = [...systems].map(
    ([id, system]) => `  ${id}  ${stackText(system)}, ${runtimeText(system) || 'default settings'}`,
  );
  throw new PlatformError('usage', [`${path} has no system ${digits}; it has:`, ...list].join('\n'));
}

const SHOWN_DIGITS = 8;

async function readDocument(path: string): Promise<readonly Report[]> {
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
