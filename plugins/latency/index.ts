import {
  type Evaluation,
  keepWholeModel,
  type Measurement,
  type Plugin,
  setupKey,
  weightlessBenchmark,
  z,
} from '../../src/plugin-api.js';
import { runs } from './runs.js';

const settings = z.strictObject({
  percentiles: z.array(z.number().gt(0).lt(100)).min(1).max(20).default([50, 90, 99]),
});

/** Percentile of the runs' times, by the nearest rank. */
function percentile(sortedMs: readonly number[], percentage: number): number | undefined {
  return sortedMs[Math.ceil((percentage / 100) * sortedMs.length) - 1];
}

function resultOf(model: string, { outcome }: Measurement, percentiles: readonly number[]) {
  if (outcome.kind === 'failure') return { model, reason: `${outcome.reason}: ${outcome.message}` };
  const sorted = outcome.runMs.toSorted((a, b) => a - b);
  const ofRuns = percentiles.map((percentage) => [`p${percentage}`, percentile(sorted, percentage)]);
  return { model, runs: sorted.length, latency_ms: Object.fromEntries(ofRuns) as Record<string, number> };
}

/** Times whole models, and shows the spread of their runs. */
const evaluation: Evaluation<z.infer<typeof settings>> = {
  name: 'latency',
  version: '0.1.0',
  settings,

  async *run({ evaluation, settings: { percentiles } }, { agent, store, signal }) {
    const { manifest, models, protocol, limits } = evaluation;
    const runOptions = { threads: manifest.threads, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
    const { fingerprint } = await agent.system(runOptions);
    const tasks = models.map(({ name, model }) => ({ name, benchmark: weightlessBenchmark(model) }));
    const signatures = tasks.map(({ benchmark }) => benchmark.signature);
    const setup = { protocol, occasion: 1, limits };
    const stored = await store.findMeasurements(signatures, fingerprint, setupKey(setup));
    const known = new Map([...stored].filter(([, { outcome }]) => outcome.kind === 'samples'));
    const missing = tasks.filter(({ benchmark }) => !known.has(benchmark.signature));
    const summary = `whole models: ${tasks.length}`;
    yield { kind: 'planned', summary, known: tasks.length - missing.length, toMeasure: missing.length };

    const results: ReturnType<typeof resultOf>[] = [];
    for (const { name, benchmark } of tasks) {
      let measurement = known.get(benchmark.signature);
      if (measurement === undefined) {
        yield { kind: 'measuring', done: results.length, total: tasks.length, label: name };
        for await (const taken of agent.measure([{ benchmark, runOptions, ...setup }], { signal })) {
          measurement = taken.measurement;
          await store.putMeasurement(measurement);
        }
      }
      if (measurement === undefined) continue;
      await keepWholeModel(store, { name, batchSize: manifest.batch_size, measurement });
      const result = resultOf(name, measurement, percentiles);
      results.push(result);
      const [latencyMs] = Object.values(result.latency_ms ?? {});
      yield { kind: 'estimate', model: name, latencyMs, coverage: latencyMs === undefined ? 0 : 1 };
    }
    yield { kind: 'done', result: { models: results }, partial: results.some(({ reason }) => reason !== undefined) };
  },
};

const plugin: Plugin = { name: 'latency', version: '0.1.0', evaluation, analyses: [runs] };

export default plugin;
