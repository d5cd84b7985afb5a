import { randomUUID } from 'node:crypto';
import { dirname, relative } from 'node:path';
import { dump } from 'js-yaml';
import { buildProvenance } from '../agent/provenance.js';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { PlatformError } from '../base/errors.js';
import { isInside } from '../base/is-inside.js';
import { maxOf, minOf } from '../base/long-lists.js';
import { requireWritable, writeResult } from '../base/output-file.js';
import { sha256Of } from '../base/sha256.js';
import { withSnakeKeys } from '../base/snake-case.js';
import type { Achieved } from '../evaluation/evaluation.js';
import type { ManifestIdentity } from '../manifest/identity.js';
import { nameField } from '../manifest/fields.js';
import { ZOO_PREFIX } from '../manifest/reference.js';
import type { Measurement } from '../measurement/measurement.js';
import type { Limits, Protocol } from '../measurement/protocol.js';
import { DEFAULT_RUNTIME, type RuntimeSettings } from '../measurement/runtime-settings.js';
import { buildRunOptions } from '../measurement/system.js';
import { signatureWithoutName, weightlessModel } from '../measurement/weightless.js';
import type { LoadedModel } from '../registry/load-model.js';
import type { CollectionDefinition } from '../store/collection.js';
import type { ResultStore } from '../store/result-store.js';
import {
  computeChecksum,
  type Log,
  type LoggedConditions,
  type LoggedModel,
  logSchema,
  SECTIONS,
} from './log-schema.js';
import { logIn } from './read-log.js';
import { runOutputs } from './run-outputs.js';

/** And how to reach them. */
const AUTHOR = 'MLMODELSCOPE_AUTHOR';

/** Rows of tables are on one line. */
const FLOW_LEVEL = 5;

const BYTES_PER_GIB = 2 ** 30;

/** A combination of sizes and settings. */
export interface RunToLog {
  readonly plugin: string;
  /** undefined for models that a command line names */
  readonly evaluation?: string | undefined;
  readonly identities?: readonly ManifestIdentity[] | undefined;
  readonly models: readonly LoadedModel[];
  readonly batch: number;
  readonly threads: number;
  readonly runtime: RuntimeSettings;
  readonly settings: object;
  readonly protocol: Protocol;
  readonly limits: Limits;
  /** The measurement is there where it is the mean of one process's runs. */
  readonly achieved: (
    model: LoadedModel,
  ) => (Achieved & { readonly measurement?: Measurement | undefined }) | undefined;
}

export interface LogToWrite {
  readonly command: string;
  readonly runs: readonly RunToLog[];
  readonly agent: BenchmarkAgent;
  readonly warnings: readonly string[];
  readonly store: ResultStore;
  readonly signal: AbortSignal;
}

const LOGS: CollectionDefinition<Log> = { name: 'logs', schema: logSchema, key: ['id'], indexes: [] };

/** @throws PlatformError `usage` outside of the log's folder */
function insideOf(log: string, path: string): string {
  if (isInside(dirname(log), path)) return relative(dirname(log), path);
  throw new PlatformError(
    'usage',
    `--log ${log}: ${path} is outside of the log's folder, and a log refers to nothing there; write the log into a folder above it`,
  );
}

function referenceOf(log: string, { identity, source, name }: LoadedModel): string {
  if (identity?.file !== undefined) return insideOf(log, identity.file);
  if (source?.kind === 'file') return insideOf(log, source.path);
  return `${ZOO_PREFIX}${source?.name ?? name}`;
}

/**
 * Before anything is measured.
 *
 * @throws PlatformError `usage` for models outside of the log's folder and for values of inputs on the command line,
 *   `storage` where the file cannot be written
 */
export async function requireLoggable(
  log: string | undefined,
  models: readonly LoadedModel[],
  inputs: ReadonlyMap<string, unknown> | undefined,
): Promise<void> {
  if (log === undefined) return;
  if (inputs !== undefined && inputs.size > 0) {
    throw new PlatformError('usage', '--log has no place for --input; write the values into a model manifest');
  }
  for (const model of models) referenceOf(log, model);
  await requireWritable(log);
}

/** The same in all models. Those of one model are in its manifest. */
function findSharedDimensions(models: readonly LoadedModel[]): Record<string, number> {
  const sizes = new Map<string, Set<number>>();
  for (const { sizes: bound } of models) {
    for (const { name, size } of bound) sizes.set(name, (sizes.get(name) ?? new Set()).add(size));
  }
  const same = [...sizes].filter(([name, each]) => each.size === 1 && nameField.safeParse(name).success);
  return Object.fromEntries(same.map(([name, each]) => [name, [...each][0] ?? 0]));
}

function buildEvaluation(log: string, run: RunToLog, index: number): Record<string, unknown> {
  const { protocol, limits } = run;
  const dimensions = findSharedDimensions(run.models);
  const document = {
    dlspec: 'evaluation/v1',
    name: `${run.evaluation ?? 'models'}-${index + 1}`,
    version: '1.0.0',
    plugin: run.plugin,
    models: run.models.map((model) => referenceOf(log, model)),
    batch_size: run.batch,
    threads: run.threads,
    ...(Object.keys(dimensions).length > 0 && { dimensions }),
    protocol: {
      ...withSnakeKeys(protocol),
      time_limit_ms: limits.timeLimitMs,
      memory_limit_gib: limits.memoryLimitBytes / BYTES_PER_GIB,
    },
    settings: run.settings,
  };
  // Without keys that are undefined, which YAML does not have.
  return JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
}

export function inputsOf({ model }: Pick<LoadedModel, 'model'>): LoggedModel['inputs'] {
  return weightlessModel(model).inputs.flatMap(({ role, name, elementType, dims, isGiven = false, fill }) => {
    const kind = isGiven ? 'given' : 'made_up';
    return role === 'weight' ? [] : [{ name, element_type: elementType, dims: [...dims], kind, seed: fill.seed }];
  });
}

export function hasOwnWeights({ model, weights }: LoadedModel, { offerWeights }: BenchmarkAgent): boolean {
  return offerWeights !== undefined && weights !== undefined && weightlessModel(model).inputs.some(isWeight);
}

const isWeight = ({ role }: { readonly role: string }): boolean => role === 'weight';

async function loggedModel(model: LoadedModel, run: RunToLog, { agent, signal }: LogToWrite): Promise<LoggedModel> {
  const achieved = run.achieved(model);
  const outcome = achieved?.measurement?.outcome;
  const runMs = outcome?.kind === 'samples' ? outcome.runMs : undefined;
  const latencyMs = achieved?.latency_ms ?? null;
  const runOptions = buildRunOptions(run.threads, agent.description, run.runtime);
  const { reasons, ...ran } = await runOutputs(model, runOptions, agent, signal);
  const filesSha256 = (await model.weights?.identity()) ?? null;
  const fields = {
    name: model.name,
    graph_sha256: signatureWithoutName(model.model),
    files_sha256: filesSha256,
    weights: hasOwnWeights(model, agent) ? ('own' as const) : ('made_up' as const),
    inputs: inputsOf(model),
    dimensions: model.sizes.map(({ name, size }) => ({ name, size })),
    latency_ms: latencyMs,
    low_ms: achieved?.low_ms ?? null,
    high_ms: achieved?.high_ms ?? null,
    whole_ms: achieved?.whole_ms ?? null,
    ...achieved?.parts,
    runs: runMs?.length ?? null,
    samples_sha256: runMs === undefined ? null : sha256Of(JSON.stringify(runMs)),
    throughput: latencyMs === null || latencyMs === 0 ? null : (run.batch * 1000) / latencyMs,
    ...ran,
  };
  const usual = new Map(
    Object.entries({
      files_sha256: 'no file here has the weights',
      latency_ms: 'it has no latency',
      throughput: 'it has no latency',
      low_ms: 'one process was measured',
      high_ms: 'one process was measured',
      whole_ms: 'the whole model was not measured beside an estimate',
      spread_percent: 'no brick was measured on several occasions',
      runs: 'the figure is no mean of the runs of one process',
      samples_sha256: 'the figure is no mean of the runs of one process',
    }),
  );
  const missing = Object.entries(fields).filter(([, value]) => value === null);
  return {
    ...fields,
    reasons: { ...Object.fromEntries(missing.map(([field]) => [field, usual.get(field) ?? ''])), ...reasons },
  };
}

export function runtimeIn(settings: unknown): RuntimeSettings {
  const given = (settings ?? {}) as Partial<RuntimeSettings>;
  const { optimization_level, execution_mode, inter_op_threads, session } = { ...DEFAULT_RUNTIME, ...given };
  return { optimization_level, execution_mode, inter_op_threads, session };
}

function summarizeConditions({ runs, warnings }: LogToWrite): LoggedConditions {
  const measurements = runs.flatMap((run) => run.models.flatMap((model) => run.achieved(model)?.measurement ?? []));
  const seen = measurements.flatMap(({ conditions }) => conditions ?? []);
  const time = seen.reduce((sum, { wallMs, cores }) => sum + wallMs * cores, 0);
  const percentOf = (key: 'stealMs' | 'othersMs' | 'throttledMs'): number | null => {
    const known = seen.flatMap((each) => each[key] ?? []);
    return known.length === 0 || time === 0 ? null : (known.reduce((sum, one) => sum + one, 0) / time) * 100;
  };
  const most = (key: 'highestMhz' | 'sharedShare' | 'droppedRuns'): number | null => {
    const known = seen.flatMap((each) => each[key] ?? []);
    return known.length === 0 ? null : maxOf(known);
  };
  const lowest = seen.flatMap(({ lowestMhz }) => lowestMhz ?? []);
  return {
    warnings: [...warnings],
    steal_percent: percentOf('stealMs'),
    others_percent: percentOf('othersMs'),
    throttled_percent: percentOf('throttledMs'),
    lowest_mhz: lowest.length === 0 ? null : minOf(lowest),
    highest_mhz: most('highestMhz'),
    dropped_runs: most('droppedRuns'),
    shared_share: most('sharedShare'),
    reason: seen.length > 0 ? 'the machine does not report it' : 'warnings say what was noticed; no figures were kept',
  };
}

function readAuthor(): Log['author'] {
  const [, name = '', contact = null] = /^([^<]*)(?:<([^>]*)>)?/.exec(process.env[AUTHOR] ?? '') ?? [];
  return name.trim() === '' ? null : { name: name.trim(), contact };
}

/** Into a file and into the store. @throws PlatformError as the agent, `storage` */
export async function writeLog(path: string, log: LogToWrite): Promise<void> {
  const { runs, agent, command, store } = log;
  const identities = runs.flatMap(({ identities: own = [], models }) => {
    return [...own, ...models.flatMap(({ identity }) => identity ?? [])];
  });
  const manifests = new Map(
    identities.flatMap(({ kind, name, version, sha256, file }) => {
      return file === undefined ? [] : [[file, { kind, name, version, sha256, file: insideOf(path, file) }] as const];
    }),
  );
  const achieved: LoggedModel[][] = [];
  for (const run of runs) {
    const models: LoggedModel[] = [];
    for (const model of run.models) models.push(await loggedModel(model, run, log));
    achieved.push(models);
  }
  const { tool, created_at, host, stack, surroundings } = buildProvenance({ agent });
  const parts = {
    author: readAuthor(),
    tool,
    task: {
      command,
      manifests: [...manifests.values()],
      evaluations: runs.map((run, index) => buildEvaluation(path, run, index)),
    },
    resolved: { host, stack, surroundings },
    conditions: summarizeConditions(log),
    achieved,
  };
  const checksums = Object.fromEntries(SECTIONS.map((section) => [section, computeChecksum(parts[section])]));
  const document = { dlspec: 'log/v1', id: randomUUID(), created_at, ...parts, checksums };
  const text = dump(document, { lineWidth: -1, noRefs: true, flowLevel: FLOW_LEVEL });
  // What cannot be read again is no log.
  const checked = logIn(path, Buffer.from(text));
  await writeResult(path, text);
  await store.collection(LOGS).put(checked);
}
