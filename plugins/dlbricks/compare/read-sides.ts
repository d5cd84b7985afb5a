import {
  currentEstimates,
  editedSections,
  type EstimatedBricks,
  estimatedParts,
  estimatedSystems,
  isManifestPath,
  type KeptEstimate,
  listSessionEntries,
  type Log,
  PlatformError,
  readJsonFile,
  readLog,
  type ResultStore,
  runtimeIn,
  runtimeText,
  schemaProblems,
  stackText,
  toSystemDocument,
  z,
} from '../../../src/plugin-api.js';
import { type Report, reportSchema, reportsSchema } from '../report/report-schema.js';
import type { Comparable } from './compare-reports.js';

const MAX_PROBLEMS = 5;

/** all.json#3fa9c2e1, but not run#2.json */
const WITH_SYSTEM = /^(.+)#([^#./\\]*)$/;

const OF_STORE = /^store#([^#./\\]*)$/;

export function isOfStore(reference: string): boolean {
  return OF_STORE.test(reference);
}

/** Those whose fingerprints begin with what follows `#`. */
function beginningWith<T extends { readonly fingerprint: string }>(digits: string, systems: readonly T[]): T[] {
  return systems.filter(({ fingerprint }) => fingerprint.startsWith(digits.toLowerCase()));
}

/** undefined where the digits name one system. */
function systemProblem(
  digits: string,
  found: readonly { readonly fingerprint: string }[],
  where: string,
): string | undefined {
  if (digits === '') return 'name a system by the beginning of its fingerprint';
  const fingerprints = new Set(found.map(({ fingerprint }) => fingerprint));
  if (fingerprints.size > 1) return `several systems begin with ${digits}`;
  return fingerprints.size === 0 ? `${where} has no system ${digits}` : undefined;
}

function systemLine(prefix: string, system: Report['system']): string {
  const settings = runtimeText(system) || 'default settings';
  return `  ${prefix}${system.fingerprint.slice(0, 8)}  ${stackText(system)}, ${settings}`;
}

async function readReports(path: string): Promise<readonly Report[]> {
  const remedy = "'dlbricks run', 'validate' and 'compose' write one with --export-json";
  const content = await readJsonFile(path, 'report', remedy, ({ reports, system, summary, models }) => {
    return reports !== undefined || [system, summary, models].every((part) => part !== undefined);
  });
  const hasSeveral = z.looseObject({ reports: z.array(z.unknown()) }).safeParse(content).success;
  const parsed = hasSeveral ? reportsSchema.safeParse(content) : reportSchema.safeParse(content);
  if (parsed.success) return 'reports' in parsed.data ? parsed.data.reports : [parsed.data];
  const problems = schemaProblems(parsed.error, { whole: 'report', most: MAX_PROBLEMS });
  throw new PlatformError('usage', [`${path}: not a report; ${remedy}`, ...problems].join('\n'));
}

/** @throws PlatformError `usage` where the file is missing, no report, or has no such system */
async function ofReports(reference: string): Promise<readonly Comparable[]> {
  const [, path = reference, digits] = WITH_SYSTEM.exec(reference) ?? [];
  const reports = await readReports(path);
  if (digits === undefined) return reports;
  const systems = reports.map(({ system }) => system);
  const found = beginningWith(digits, systems);
  const problem = systemProblem(digits, found, 'the document');
  if (problem === undefined) return reports.filter(({ system }) => found.includes(system));
  const list = new Set(systems.map((system) => systemLine(`${path}#`, system)));
  throw new PlatformError('usage', [`${reference}: ${problem}; it has:`, ...list].join('\n'));
}

function readCount(value: unknown): number {
  return typeof value === 'number' ? value : 1;
}

/** @throws PlatformError `usage` for a log that was edited */
async function ofLog(path: string): Promise<readonly Comparable[]> {
  const log: Log = await readLog(path);
  const edited = editedSections(log);
  if (edited.length > 0) {
    throw new PlatformError(
      'usage',
      `${path}: ${edited.join(', ')}: edited after it was written; use the log as it was`,
    );
  }
  const { host, stack, surroundings } = log.resolved;
  const ofDlbricks = `${path} is of a version that logged none; 'mlmodelscope dlbricks run --log' logs them`;
  const ofOthers = `${path} has times of whole models; 'mlmodelscope dlbricks run --log' logs bricks`;
  return log.task.evaluations.map((evaluation, index): Comparable => {
    const models = log.achieved[index] ?? [];
    const { session, ...runtime } = runtimeIn(evaluation['settings']);
    const { cut, granularity } = (evaluation['settings'] ?? {}) as Record<string, unknown>;
    const threads = readCount(evaluation['threads']);
    return {
      system: { fingerprint: '', ...stack, threads, ...runtime, session: listSessionEntries(session) },
      settings: {
        ...{ batch: readCount(evaluation['batch_size']), plugin: evaluation['plugin'], cut, granularity },
        ...(evaluation['protocol'] as object),
      },
      summary: { spread_percent: models.find(({ spread_percent: spread }) => spread)?.spread_percent ?? null },
      ...(models.some(({ bricks }) => bricks === undefined) && {
        withoutBricks: evaluation['plugin'] === 'dlbricks' ? ofDlbricks : ofOthers,
      }),
      warnings: log.conditions.warnings.map((message) => ({ cause: 'noise', message })),
      provenance: {
        ...{ tool: log.tool, host, surroundings },
        models: models.map(({ name, weights, files_sha256: sha256 }) => ({ name, weights, file_sha256: sha256 })),
      },
      models: models.map(({ name, dimensions, graph_sha256, latency_ms, low_ms, high_ms, whole_ms, bricks = [] }) => ({
        ...{ name, dimensions, graph_signature: graph_sha256, bricks, coverage: 1 },
        ...{ estimate_ms: latency_ms, estimate_low_ms: low_ms, estimate_high_ms: high_ms, end_to_end_ms: whole_ms },
      })),
    };
  });
}

function dimensionsIn(text: string): { name: string; size: number }[] {
  return text.split(', ').flatMap((part) => {
    const [, name, size] = /^(.+)=(\d+)$/.exec(part) ?? [];
    return name === undefined ? [] : [{ name, size: Number(size) }];
  });
}

function ofEstimate(estimate: KeptEstimate, parts: EstimatedBricks | undefined) {
  const { model, settings, dimensions, graph, coverage, latencyMs, lowMs, highMs, wholeMs } = estimate;
  return {
    // Estimates of one model with other settings are other rows.
    name: settings === '' ? model : `${model}, ${settings}`,
    dimensions: dimensionsIn(dimensions),
    graph_signature: graph,
    bricks: parts?.bricks ?? [],
    coverage,
    ...{ estimate_ms: latencyMs, estimate_low_ms: lowMs, estimate_high_ms: highMs, end_to_end_ms: wholeMs },
  };
}

async function storeProblem(
  digits: string,
  found: readonly { readonly fingerprint: string }[],
  store: ResultStore,
): Promise<string | undefined> {
  const problem = systemProblem(digits, found, 'the store');
  if (found.length > 0 || digits === '' || beginningWith(digits, await store.listSystems()).length === 0)
    return problem;
  const why = "bricks are measured without the runtime's optimizer, which is a system of its own";
  return `the store has measurements of system ${digits}, but no estimate of it (${why})`;
}

/** @throws PlatformError `usage` where the store has no estimate of such a system, with the systems that it has */
async function ofStore(digits: string, store: ResultStore): Promise<readonly Comparable[]> {
  const estimates = (await currentEstimates(store)).filter(({ plugin }) => plugin === 'dlbricks');
  const systems = [...(await estimatedSystems(store)).values()].filter(({ fingerprint }) => {
    return estimates.some(({ system }) => system === fingerprint);
  });
  const found = beginningWith(digits, systems);
  const [system] = found;
  const problem = await storeProblem(digits, found, store);
  if (problem !== undefined || system === undefined) {
    const list = systems.map((one) => systemLine('store#', toSystemDocument(one)));
    const rest =
      list.length === 0 ? "; it has no estimate: 'mlmodelscope dlbricks run' keeps them" : '; it has estimates of:';
    throw new PlatformError('usage', [`store#${digits}: ${problem}${rest}`, ...list].join('\n'));
  }
  const ofSystem = estimates.filter(({ system: of }) => of === system.fingerprint);
  const parts = new Map<KeptEstimate, EstimatedBricks | undefined>();
  for (const estimate of ofSystem) parts.set(estimate, await estimatedParts(store, estimate.subject));
  const spread = [...parts.values()].flatMap((one) => one?.spread_percent ?? []).at(0) ?? null;
  const without = new Set(ofSystem.flatMap((one) => (parts.get(one) === undefined ? [one.model] : [])));
  const reason = `the store has none of ${[...without].join(', ')}, estimated by an earlier version; 'mlmodelscope dlbricks run' keeps them`;
  return [...new Set(ofSystem.map(({ batch }) => batch))].map((batch) => ({
    system: toSystemDocument(system),
    settings: { batch },
    summary: { spread_percent: spread },
    provenance: null,
    ...(without.size > 0 && { withoutBricks: reason }),
    models: ofSystem.filter((estimate) => estimate.batch === batch).map((one) => ofEstimate(one, parts.get(one))),
  }));
}

/** @param reference a report or log, FILE#DIGITS, or store#DIGITS. @throws PlatformError `usage` where it is none */
export async function readSide(
  reference: string,
  openStore: () => Promise<ResultStore>,
): Promise<readonly Comparable[]> {
  const [, digits] = OF_STORE.exec(reference) ?? [];
  if (digits !== undefined) return ofStore(digits, await openStore());
  return isManifestPath(reference) ? ofLog(reference) : ofReports(reference);
}
