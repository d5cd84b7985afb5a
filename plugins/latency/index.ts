import {
  type Evaluation,
  keepWholeModel,
  type Measurement,
  type Plugin,
  protocolKey,
  weightlessBenchmark,
  z,
} from '../../src/plugin-api.js';
import { runs } from './runs.js';

const settings = z.strictObject({
  percentiles: z.array(z.number().gt(0).lt(100)).min(1).max(20).default([50, 90, 99]),
});

/** The time that this percentage of runs stays within; by the nearest rank. */
function percentile(sortedMs: readonly number[], percentage: number): number | undefined {
  return sortedMs[Math.ceil((percentage / 100) * sortedMs.length) - 1];
}

function resultOf(model: string, { outcome }: Measurement, percentiles: readonly number[]) {
  if (outcome.kind === 'failure') return { model, reason: `${outcome.reason}: ${outcome.message}` };
  const sorted = outcome.runMs.toSorted((a, b) => a - b);
  const ofRuns = percentiles.map((percentage) => [`p${percentage}`, percentile(sorted, percentage)]);
  return { model, runs: sorted.length, latency_ms: Object.fromEntries(ofRuns) as Record<string, number> };
}

/** Times whole models, and says how their runs are spread. */
const evaluation: Evaluation<z.infer<typeof settings>> = {
  name: 'latency',
  version: '0.1.0',
  settings,

  async *run({ evaluation: { manifest, models, protocol }, settings: { percentiles } }, { agent, store, signal }) {
    const runOptions = { threads: manifest.threads, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
    const { fingerprint } = await agent.system(runOptions);
    const tasks = models.map(({ name, model }) => ({ name, benchmark: weightlessBenchmark(model) }));
    const signatures = tasks.map(({ benchmark }) => benchmark.signature);
    const stored = await store.findMeasurements(signatures, fingerprint, protocolKey(protocol));
    const known = new Map([...stored].filter(([, { outcome }]) => outcome.kind === 'samples'));
    const toMeasure = tasks.length - known.size;
    yield { kind: 'planned', summary: `whole models: ${tasks.length}`, known: known.size, toMeasure };

    const results: ReturnType<typeof resultOf>[] = [];
    for (const [done, { name, benchmark }] of tasks.entries()) {
      let measurement = known.get(benchmark.signature);
      if (measurement === undefined) {
        yield { kind: 'measuring', done, total: tasks.length, label: name };
        measurement = await agent.measure(benchmark, runOptions, protocol, { signal });
        await store.putMeasurement(measurement);
      }
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
