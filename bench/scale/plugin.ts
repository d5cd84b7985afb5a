// A plugin whose evaluations are made-up bricks, for `mlmodelscope serve --plugin`. The server, the queue and the store
// do the same work as for real bricks, but nothing is read, cut or composed.
import {
  type EvaluationContext,
  type EvaluationEvent,
  KnownResults,
  Measuring,
  planMeasuring,
  type Plugin,
  type Remeasure,
  RunProgress,
  identifySystem,
  buildRunOptions,
  type Task,
  whileTelling,
  z,
} from '../../src/plugin-api.js';
import { requestsOf, type BrickSeries } from './bricks.js';

/** Nothing is measured again on a busy machine: the benchmark makes it busy on purpose. */
const NOTHING_AGAIN: Remeasure = { kind: 'none' };

const settings = z.strictObject({ name: z.string(), bricks: z.int().min(1) });

/** Name of the plugin, for manifests and command lines. */
export const SCALE = 'scale';

/** The result document of an evaluation. */
export const scaleResultSchema = z.strictObject({
  bricks: z.int(),
  /** Those with samples. */
  measured: z.int(),
});

async function measureSeries(
  series: BrickSeries,
  { agent, store, signal }: EvaluationContext,
  onEvent: (event: EvaluationEvent) => void,
): Promise<number> {
  const system = identifySystem(agent.description, buildRunOptions(1));
  const tasks = requestsOf(series).map((request, index): Task => ({ label: `brick ${index}`, request, work: 1 }));
  const results = new KnownResults();
  const { missing } = await planMeasuring(tasks, results, { system, store, remeasure: NOTHING_AGAIN });
  const known = tasks.length - missing.length;
  onEvent({ kind: 'planned', summary: `${missing.length} bricks to measure`, known, toMeasure: missing.length });
  const progress = new RunProgress();
  progress.add(missing);
  const measuring = new Measuring({ agent, store, signal, onEvent }, system, results, progress);
  await measuring.measure(missing, NOTHING_AGAIN);
  return tasks.filter(({ request }) => results.get(request)?.outcome.kind === 'samples').length;
}

const plugin: Plugin = {
  name: SCALE,
  version: '0.1.0',
  evaluation: {
    name: SCALE,
    version: '0.1.0',
    settings,
    async *run({ settings: given }, context) {
      const series = settings.parse(given);
      const measured = yield* whileTelling((onEvent) => measureSeries(series, context, onEvent));
      const result: z.infer<typeof scaleResultSchema> = { bricks: series.bricks, measured };
      yield { kind: 'done', result, partial: measured < series.bricks };
    },
  },
};

export default plugin;
