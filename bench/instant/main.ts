import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contextOf, modelNeeds } from '../../plugins/dlbricks/bricks/needs.js';
import { prepareModel, type PreparedModel } from '../../plugins/dlbricks/bricks/prepare-model.js';
import { compose } from '../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../plugins/dlbricks/estimate/observations.js';
import { spreadsFor, spreadsOfSystem } from '../../plugins/dlbricks/estimate/spreads-of-system.js';
import { mean } from '../../plugins/dlbricks/estimate/statistics.js';
import { brickKey } from '../../plugins/dlbricks/estimate/brick-latency.js';
import { earlierRuns } from '../../plugins/dlbricks/measure/earlier-runs.js';
import { describeKernels, measuredKernels } from '../../plugins/dlbricks/measure/known-kernels.js';
import { wantedOfNeed } from '../../plugins/dlbricks/measure/wanted-need.js';
import { KernelPredictor } from '../../plugins/dlbricks/predict/kernel-predictor.js';
import { percent } from '../../plugins/dlbricks/report/words.js';
import { settingsSchema } from '../../plugins/dlbricks/settings.js';
import { connectAgent } from '../../src/agent/client/agent-client.js';
import { cacheOptimizedGraphs } from '../../src/agent/client/optimized-graph-cache.js';
import { startAgent } from '../../src/agent/services/server.js';
import { DEFAULT_LIMITS, DEFAULT_PROTOCOL } from '../../src/manifest/evaluation.js';
import { identifySystem, knownResults, runOptionsOf } from '../../src/plugin-api.js';
import { loadModel } from '../../src/registry/load-model.js';
import { openStore } from '../../src/store/open-store.js';
import { analysisIn } from '../analysis-in.js';
import { configurations } from '../accuracy/configurations.js';

// `make bench-instant`: how far off predictions are for models whose bricks, or whose family's bricks, were left out.
// It measures nothing: it reads the store of `make bench-accuracy` (OUT, or the folder that is named).

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENT = join(ROOT, 'docs', 'results', 'instant.md');
const [OUT = join(ROOT, 'out', 'accuracy')] = process.argv.slice(2);

/** The part of a name before its size: resnet18 and resnet50 are one family. */
function familyOf(name: string): string {
  return /^[a-z]+/.exec(name.replace(/^light_(bvlc_)?/, ''))?.[0] ?? name;
}

interface Left {
  readonly name: string;
  /** Of the estimate, relative to the sum of its measured bricks, and to the measured whole model. */
  readonly ofBricks: number;
  readonly ofWhole: number | undefined;
  readonly halfWidth: number | undefined;
  readonly holds: boolean | undefined;
  /** Part of its time with operators that no other family has, which both sums leave out. */
  readonly unknown: number;
}

function figures(title: string, left: readonly Left[]): string[] {
  const errors = left.map(({ ofBricks }) => Math.abs(ofBricks));
  const share = (limit: number): string =>
    percent((100 * errors.filter((error) => error <= limit).length) / left.length);
  const complete = left.filter(({ unknown, holds }) => unknown === 0 && holds !== undefined);
  const held = complete.filter(({ holds }) => holds).length;
  const width = complete.flatMap(({ halfWidth }) => halfWidth ?? []);
  const wholes = left.flatMap(({ unknown, ofWhole }) =>
    unknown > 0.02 || ofWhole === undefined ? [] : Math.abs(ofWhole),
  );
  const cells = [
    percent(100 * mean(errors)),
    share(0.05),
    share(0.1),
    `${percent(100 * mean(wholes))} (${wholes.length} models)`,
    `${held} of ${complete.length}`,
    percent(100 * mean(width)),
  ];
  return [`| ${title} | ${cells.join(' | ')} |`];
}

const server = await startAgent({ host: '127.0.0.1', port: 0 });
const client = await connectAgent(server.address);
const agent = cacheOptimizedGraphs(client, join(OUT, 'graphs'));
const store = await openStore(join(OUT, 'store'), { access: 'read' });
try {
  const [configuration] = (await configurations()).filter(({ threads, batch }) => threads === 1 && batch === 1);
  const runOptions = runOptionsOf(1, client.description);
  const system = identifySystem(client.description, runOptions);
  const settings = { runOptions, protocol: DEFAULT_PROTOCOL, limits: DEFAULT_LIMITS };
  const { cut, shorten, values, keep_dynamic: keepDynamic } = settingsSchema.parse({});
  const { signal } = new AbortController();
  const prepared: PreparedModel[] = [];
  for (const { reference } of configuration?.models ?? []) {
    const loaded = await loadModel(reference, { batch: 1, signal });
    prepared.push(await prepareModel(loaded, { cut, shorten, values, keepDynamic, runOptions }, agent, signal));
  }
  const earlier = await earlierRuns(store, system, DEFAULT_PROTOCOL);
  const leaveOut = async (groupOf: (name: string) => string): Promise<readonly Left[]> => {
    const found: Left[] = [];
    for (const { recipe, facts, whole } of prepared) {
      const { name } = recipe;
      const others = prepared.filter((other) => groupOf(other.recipe.name) !== groupOf(name));
      const measured = await measuredKernels(describeKernels(others), store, system, settings);
      const context = contextOf(recipe, system);
      const wanted = [1, 2, 3, 4, 5].flatMap((occasion) => {
        return modelNeeds(recipe, system, DEFAULT_PROTOCOL).map((need) => wantedOfNeed(need, occasion, settings));
      });
      const all = groupObservations((await knownResults(wanted, system, store)).measurements());
      const own = new Set(recipe.bricks.map((brick) => brickKey(brick, context)));
      const calls = new Map([...all].filter(([key]) => !own.has(key)));
      const spreads = spreadsFor(spreadsOfSystem([], new Map(), { earlier }), whole.signature);
      const byBricks = compose({ recipe, context }, all);
      // A model that the store does not have says nothing.
      if (byBricks.missing.length > 0) continue;
      const predicted = compose({ recipe, context, facts }, calls, spreads, new KernelPredictor(measured));
      const missing = new Set(predicted.missing.map(({ signature }) => signature));
      const unknownMs = byBricks.parts.reduce(
        (sum, { signature, count, ms = 0 }) => sum + (missing.has(signature) ? count * ms : 0),
        0,
      );
      const bricksMs = byBricks.sequential?.ms ?? NaN;
      const interval = predicted.sequential ?? { ms: 0, lowMs: undefined, highMs: undefined };
      const wholes = earlier.wholes.get(whole.signature) ?? [];
      const wholeMs = wholes.length === 0 ? undefined : mean(wholes);
      const { lowMs, highMs } = interval;
      found.push({
        name,
        ofBricks: interval.ms / (bricksMs - unknownMs) - 1,
        ofWhole: wholeMs === undefined ? undefined : interval.ms / wholeMs - 1,
        halfWidth: highMs === undefined ? undefined : highMs / interval.ms - 1,
        holds:
          wholeMs === undefined || lowMs === undefined || highMs === undefined
            ? undefined
            : lowMs <= wholeMs && wholeMs <= highMs,
        unknown: unknownMs / bricksMs,
      });
    }
    return found;
  };
  const byModel = await leaveOut((name) => name);
  const byFamily = await leaveOut(familyOf);
  const signed = (value: number | undefined): string => (value === undefined ? '–' : percent(100 * value));
  const analysis = await analysisIn(DOCUMENT).catch(() => '');
  const lines = [
    '# Instant estimates',
    '',
    'Written by `make bench-instant`, which measures nothing. A person wrote the *Analysis*; it stays when the figures change.',
    '',
    `${system.processor}, ${system.cores} cores, ${system.framework} ${system.frameworkVersion}, one thread, batch 1. ${new Date().toISOString().slice(0, 10)}.`,
    `${byModel.length} models of [accuracy.md](accuracy.md). All bricks of a model are predicted from those of the other models, or of`,
    'the models of other families (families by the first letters of their names). Errors are relative to the sum of the',
    "model's measured bricks, and to the measured whole model; intervals are judged by the whole model.",
    '',
    '| left out | mean error | within 5 % | within 10 % | of whole models | 95 % intervals that hold | mean half width |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...figures('the model', byModel),
    ...figures('its family', byFamily),
    '',
    'Operators that no other family has are not predicted. Both sums leave them out, *unknown* is their share of the time,',
    'and such models count for no interval.',
    '',
    '| model, its family left out | error | of the whole model | ± | unknown |',
    '|---|---:|---:|---:|---:|',
    ...byFamily.map(({ name, ofBricks, ofWhole, halfWidth, unknown }) => {
      return `| ${[name, signed(ofBricks), signed(ofWhole), signed(halfWidth), signed(unknown)].join(' | ')} |`;
    }),
    '',
    analysis.trim() === '' ? '## Analysis' : analysis.trim(),
    '',
  ];
  await mkdir(dirname(DOCUMENT), { recursive: true });
  await writeFile(DOCUMENT, lines.join('\n'));
  console.log(lines.join('\n'));
} finally {
  await store.close();
  await client.close();
  await server.close();
}
