import { dirname } from 'node:path';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { buildProvenance } from '../agent/provenance.js';
import { counted } from '../base/counted.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { append } from '../base/long-lists.js';
import { sha256Of } from '../base/sha256.js';
import type { Evaluation } from '../evaluation/evaluation.js';
import type { PlatformEvent } from '../evaluation/event.js';
import { runPlugin } from '../evaluation/run/run-plugin.js';
import { buildRunOptions } from '../measurement/system.js';
import { signatureWithoutName } from '../measurement/weightless.js';
import { loadEvaluation, type LoadedEvaluation } from '../registry/load-evaluation.js';
import type { LoadedModel } from '../registry/load-model.js';
import { openMemoryStore } from '../store/memory/open.js';
import { computeChecksum, type Log, type LoggedModel } from './log-schema.js';
import { editedSections, evaluationPath, filesOf, manifestAt } from './read-log.js';
import { runOutputs } from './run-outputs.js';
import {
  compareConditions,
  compareOutputs,
  comparePerformance,
  firstDifferentLayer,
  OUTPUT_VERDICTS,
  PERFORMANCE_VERDICTS,
  worst,
} from './verdicts.js';
import type { Reproduction } from './reproduction-schema.js';
import { inputsOf, runtimeIn } from './write-log.js';

export interface ReproduceTools {
  readonly evaluations: readonly Evaluation[];
  /** An agent in a process of its own each time. */
  readonly connect: () => Promise<BenchmarkAgent>;
  readonly signal: AbortSignal;
  readonly onEvent: (event: PlatformEvent) => void;
  /** Processes that measure where the log's figure is of one process. */
  readonly processes: number;
}

interface Planned {
  readonly evaluation: Evaluation;
  readonly loaded: LoadedEvaluation;
  readonly settings: unknown;
  readonly logged: readonly LoggedModel[];
}

function findProblems(model: LoadedModel, logged: LoggedModel, filesSha256: string | null): readonly string[] {
  const { name } = logged;
  const problems: string[] = [];
  const graph = signatureWithoutName(model.model);
  const short = (digest: string): string => digest.slice(0, 12);
  if (graph !== logged.graph_sha256) {
    problems.push(`${name}: the graph was changed (${short(graph)} instead of ${short(logged.graph_sha256)})`);
  } else if (logged.files_sha256 !== null && filesSha256 === null) {
    problems.push(`${name}: the weights of its file are missing`);
  } else if (logged.files_sha256 !== null && filesSha256 !== logged.files_sha256) {
    problems.push(`${name}: the weights were changed, the graph is the same`);
  }
  const now = new Map(inputsOf(model).map((input) => [input.name, input]));
  for (const input of logged.inputs) {
    const other = now.get(input.name);
    if (other === undefined) problems.push(`${name}: input ${input.name} is missing`);
    else if (other.seed !== input.seed) {
      problems.push(
        `${name}: input ${input.name} has the seed ${input.seed} in the log; it is made up from ${other.seed}`,
      );
    } else if (computeChecksum(other) !== computeChecksum(input))
      problems.push(`${name}: input ${input.name} has another type or values`);
  }
  return problems;
}

async function changedManifests(path: string, { task }: Log): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { kind, name, version, sha256, file } of task.manifests) {
    const found = await manifestAt(path, file);
    if (!found.ok) problems.push(`${kind} ${name} ${version}: ${found.found} at ${file}`);
    else if (sha256Of(found.bytes) !== sha256) {
      problems.push(`${kind} ${name} ${version}: ${file} was changed`);
    }
  }
  return problems;
}

/** An evaluation is a part of the log, in one line of JSON: its path and places are those of no file. */
function withoutPlaces(message: string, manifestPath: string): string {
  const [before = '', ...after] = message.split(`${manifestPath}:1:`);
  return [before, ...after.map((rest) => rest.replace(/^\d+: /, ''))].join('');
}

/** Measures nothing. @returns what is not as in the log, one problem in a line; the evaluations where there is none */
export async function planReproduction(
  path: string,
  log: Log,
  evaluations: readonly Evaluation[],
): Promise<{ readonly problems: readonly string[]; readonly planned: readonly Planned[] }> {
  const edited = editedSections(log).map((section) => {
    return `${section}: this part of the log was edited after it was written; use the log as it was`;
  });
  const problems = [...edited, ...(await changedManifests(path, log))];
  const planned: Planned[] = [];
  for (const [index, document] of log.task.evaluations.entries()) {
    const logged = log.achieved[index] ?? [];
    const manifestPath = evaluationPath(path, index);
    const files = filesOf(dirname(path), new Map([[manifestPath, Buffer.from(JSON.stringify(document))]]));
    try {
      const loaded = await loadEvaluation(manifestPath, { files });
      const evaluation = evaluations.find(({ name }) => name === loaded.manifest.plugin);
      if (evaluation === undefined) {
        problems.push(`evaluation ${index + 1}: the plugin ${loaded.manifest.plugin} is not installed here`);
        continue;
      }
      for (const { name, reason } of loaded.unusable) problems.push(`${name}: ${reason}`);
      if (loaded.models.length !== logged.length) {
        problems.push(
          `evaluation ${index + 1}: it has ${counted(loaded.models.length, 'model')}, and the log has figures of ${logged.length}`,
        );
      }
      const models: LoadedModel[] = [];
      for (const [position, model] of loaded.models.entries()) {
        const of = logged[position];
        if (of === undefined) continue;
        append(problems, findProblems(model, of, (await model.weights?.identity()) ?? null));
        models.push(of.weights === 'own' ? model : { ...model, weights: undefined });
      }
      const settings = loaded.settingsOf(evaluation.settings);
      planned.push({ evaluation, loaded: { ...loaded, models }, settings, logged });
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      problems.push(`evaluation ${index + 1}: ${withoutPlaces(messageOf(error), manifestPath)}`);
    }
  }
  return { problems: [...new Set(problems)], planned };
}

type Figures = Pick<LoggedModel, 'latency_ms' | 'low_ms' | 'high_ms'>;

async function measured({ evaluation, loaded, settings }: Planned, agent: BenchmarkAgent, tools: ReproduceTools) {
  const figures = new Map<string, Figures>();
  const store = await openMemoryStore();
  const request = { evaluation: loaded, settings };
  for await (const event of runPlugin(evaluation, request, { agent, store, signal: tools.signal })) {
    if (event.kind === 'estimate') {
      const { model, latencyMs = null, lowMs = null, highMs = null } = event;
      figures.set(model, { latency_ms: latencyMs, low_ms: lowMs, high_ms: highMs });
    } else tools.onEvent(event);
  }
  return figures;
}

const NO_OUTPUTS = { outputs: null, layers: null };
const OTHER_WEIGHTS = "the log's outputs are of the weights of its file, which an agent elsewhere does not have";

async function reproduceOne(planned: Planned, index: number, tools: ReproduceTools): Promise<Reproduction['models']> {
  const { loaded, logged, settings } = planned;
  const isOfOneProcess = logged.some(({ latency_ms: ms, low_ms: low }) => ms !== null && low === null);
  const times = isOfOneProcess ? tools.processes : 1;
  const passes: ReadonlyMap<string, Figures>[] = [];
  const ran: Pick<LoggedModel, 'outputs' | 'layers'>[] = [];
  for (let pass = 0; pass < times; pass++) {
    const agent = await tools.connect();
    if (pass === 0) {
      const runOptions = buildRunOptions(loaded.manifest.threads, agent.description, runtimeIn(settings));
      for (const [position, model] of loaded.models.entries()) {
        const isOther = logged[position]?.weights === 'own' && agent.offerWeights === undefined;
        ran.push(isOther ? NO_OUTPUTS : await runOutputs(model, runOptions, agent, tools.signal));
      }
    }
    passes.push(await measured(planned, agent, tools));
  }
  return loaded.models.flatMap((model, position) => {
    const before = logged[position];
    if (before === undefined) return [];
    const figures = passes.flatMap((pass) => pass.get(model.name) ?? []);
    const outputs = compareOutputs(before.outputs, ran[position]?.outputs ?? null);
    const { ratio, low, high, verdict } = comparePerformance(before, figures);
    return {
      model: before.name,
      evaluation: index + 1,
      batch: loaded.manifest.batch_size,
      threads: loaded.manifest.threads,
      outputs: outputs.verdict,
      outputs_detail: ran[position] === NO_OUTPUTS ? OTHER_WEIGHTS : outputs.detail,
      first_layer:
        outputs.verdict === 'different'
          ? (firstDifferentLayer(before.layers, ran[position]?.layers ?? null) ?? null)
          : null,
      logged_ms: before.latency_ms,
      now_ms: ratio === null || before.latency_ms === null ? null : ratio * before.latency_ms,
      processes: figures.length,
      ratio,
      ratio_low: low,
      ratio_high: high,
      performance: verdict,
    };
  });
}

export async function reproduce(log: Log, planned: readonly Planned[], tools: ReproduceTools): Promise<Reproduction> {
  const agent = await tools.connect();
  const models: Reproduction['models'] = [];
  for (const [index, one] of planned.entries()) append(models, await reproduceOne(one, index, tools));
  const loaded = planned.flatMap((one) => one.loaded.models);
  const provenance = buildProvenance({ agent, models: loaded, reasons: { protocol: 'see the task of the log' } });
  const differences = compareConditions(log.resolved, provenance);
  return {
    provenance,
    log: { id: log.id, created_at: log.created_at, command: log.task.command },
    conditions: {
      verdict: differences.some(({ matters }) => matters) ? 'not comparable' : 'comparable',
      differences: [...differences],
    },
    outputs:
      worst(
        OUTPUT_VERDICTS,
        models.map(({ outputs }) => outputs),
      ) ?? 'not known',
    performance:
      worst(
        PERFORMANCE_VERDICTS,
        models.map(({ performance }) => performance),
      ) ?? 'not known',
    models,
  };
}
