import {
  counted,
  type Measurement,
  PlatformError,
  problemWithTimes,
  type Provenance,
  readJsonFile,
  schemaProblems,
  snakePath,
  storedMeasurementSchema,
  subjectKey,
  withCamelKeys,
  withSnakeKeys,
  z,
} from '../../../src/plugin-api.js';

export const FORMAT = 'dlbricks-results/3';

const plausibleSchema = storedMeasurementSchema.superRefine((measurement, context) => {
  const message = problemWithTimes(measurement);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** Measurements of one system by one protocol. */
const resultsSchema = z
  .strictObject({
    /** Versions 1 and 2 have keys in camelCase; version 1 has measurements in an older form. */
    format: z.enum(['dlbricks-results/1', 'dlbricks-results/2', FORMAT]),
    provenance: z.unknown().optional(),
    measurements: z.array(plausibleSchema).min(1),
  })
  .superRefine(({ measurements }, context) => {
    const systems = new Set(measurements.map(({ system }) => system.fingerprint)).size;
    if (systems > 1) {
      context.addIssue({ code: 'custom', path: ['measurements'], message: `expected one system, found ${systems}` });
    }
    const subjects = measurements.map((one) => `${subjectKey(one.signature, one.context)} ${one.occasion}`);
    const twice = measurements.length - new Set(subjects).size;
    if (twice > 0) {
      const message = `expected each benchmark once per occasion, found ${counted(twice, 'duplicate')}`;
      context.addIssue({ code: 'custom', path: ['measurements'], message });
    }
  });

export function resultsText(measurements: readonly Measurement[], provenance: Provenance | null = null): string {
  return `${JSON.stringify(withSnakeKeys({ format: FORMAT, provenance, measurements }), null, 1)}\n`;
}

/** A document in the current format, whose keys are in snake_case. */
const todaysSchema = z.looseObject({ format: z.literal(FORMAT) });

/** Reads a results file from an untrusted source. @throws PlatformError `usage` where the file is no results file */
export async function readResults(path: string): Promise<readonly Measurement[]> {
  const remedy = "'dlbricks run --suite DIR --export-json FILE' writes one";
  const content = await readJsonFile(path, 'results file', remedy, ({ format }) => {
    return /^dlbricks-results\//.test(String(format));
  });
  const isTodays = todaysSchema.safeParse(content).success;
  const parsed = resultsSchema.safeParse(isTodays ? withCamelKeys(content) : content);
  if (parsed.success) return parsed.data.measurements;
  const issues = parsed.error.issues.map((issue) => (isTodays ? { ...issue, path: snakePath(issue.path) } : issue));
  const problems = schemaProblems({ issues }, { whole: 'results', most: 20 });
  throw new PlatformError('usage', problems.map((problem) => `${path}: ${problem}`).join('\n'));
}
