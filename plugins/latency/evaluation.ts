import {
  type Evaluation,
  type EvaluationEvent,
  identifySystem,
  PlatformError,
  remeasureAsked,
  remeasureSetting,
  buildRunOptions,
  runtimeSettings,
  runtimeText,
  whileTelling,
  z,
} from '../../src/plugin-api.js';
import { isPartial, buildLatencyResult, percentileIn } from './latency-result.js';
import { showLatencies } from './latency-table.js';
import { timeModels } from './time-models.js';

/** The default protocol's 50 runs show no p99. */
export const DEFAULT_PERCENTILES: readonly number[] = [50, 90, 95];

const MAX_PERCENTILES = 20;

const expected = `up to ${MAX_PERCENTILES} numbers above 0 and below 100`;

export const percentilesSchema = z
  .array(z.number({ error: expected }).gt(0, { error: expected }).lt(100, { error: expected }), { error: expected })
  .min(1, { error: expected })
  .max(MAX_PERCENTILES, { error: expected });

const settings = z.strictObject({
  percentiles: percentilesSchema.default([...DEFAULT_PERCENTILES]),
  ...runtimeSettings,
  remeasure: remeasureSetting,
});

export const latencyEvaluation: Evaluation<z.infer<typeof settings>> = {
  name: 'latency',
  version: '0.1.0',
  settings,
  show: showLatencies,

  async *run({ evaluation, settings: { percentiles, remeasure, ...runtime } }, { agent, store, signal }) {
    const { manifest, identities, models, unusable, protocol, limits } = evaluation;
    const { threads, batch_size: batch, trace_url_template: traceUrlTemplate } = manifest;
    const asked = models.map((loaded) => ({ loaded, batch, threads, runtime }));
    const timing = { protocol, limits, remeasure: remeasureAsked(remeasure), traceUrlTemplate };
    const timed = yield* whileTelling((onEvent) => timeModels(asked, timing, { agent, store, signal, onEvent }));
    if (signal.aborted) throw new PlatformError('cancelled', 'interrupted; everything measured so far is kept');
    const system = identifySystem(agent.description, buildRunOptions(threads, agent.description, runtime));
    const configuration = { batch, dimensions: '', threads, settings: runtimeText(runtime) };
    const untimed = unusable.map(({ name, reason }) => ({ model: name, ...configuration, reason }));
    const result = buildLatencyResult(timed, system, percentiles, untimed, { identities, agent, protocol });
    for (const row of result.models) {
      const latencyMs = 'reason' in row ? undefined : row.trimmed_mean_ms;
      const coverage = latencyMs === undefined ? 0 : 1;
      const ofRuns = percentiles.map((percentage) => ({ percentage, ...percentileIn(row, percentage) }));
      yield { kind: 'estimate', model: row.model, latencyMs, coverage, percentiles: ofRuns } satisfies EvaluationEvent;
    }
    yield { kind: 'done', result, partial: isPartial(result) };
  },
};
