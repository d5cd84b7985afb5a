import {
  type Evaluation,
  type EvaluationEvent,
  PlatformError,
  runtimeSettings,
  whileTelling,
  z,
} from '../../src/plugin-api.js';
import { failureText } from './headlines.js';
import { showLoad } from './load-table.js';
import type { LoadRow } from './load-result.js';
import { runLoad } from './run-load.js';
import { settingsSchema } from './settings.js';

const evaluationSettings = z.strictObject({ ...settingsSchema.shape, ...runtimeSettings });

/** Percentiles of a row, or why there are none. */
function buildEstimate({ model, measured, predicted }: LoadRow): EvaluationEvent {
  const figures = measured ?? predicted?.value ?? null;
  const ofMeasured = measured === null ? undefined : (measured.invalid ?? measured.reason ?? failureText(measured));
  const reason = ofMeasured ?? predicted?.reason ?? 'too few queries show it';
  const percentiles = ([50, 90, 99] as const).map((percentage) => {
    const latencyMs = figures?.[`p${percentage}_ms`] ?? null;
    return latencyMs === null ? { percentage, reason } : { percentage, latencyMs };
  });
  const latencyMs = figures?.p50_ms ?? undefined;
  return { kind: 'estimate', model, latencyMs, coverage: latencyMs === undefined ? 0 : 1, percentiles };
}

export const loadEvaluation: Evaluation<z.infer<typeof evaluationSettings>> = {
  name: 'load',
  version: '0.1.0',
  settings: evaluationSettings,
  show: showLoad,

  async *run({ evaluation, settings }, { agent, store, signal }) {
    const { manifest, identities, models, unusable } = evaluation;
    const { threads, batch_size: loadedBatch } = manifest;
    const { optimization_level, execution_mode, inter_op_threads, session, ...load } = settings;
    const runtime = { optimization_level, execution_mode, inter_op_threads, session };
    const { result, partial } = yield* whileTelling((onEvent) => {
      const run = { settings: load, threads, runtime, loadedBatch, origin: { identities } };
      return runLoad(models, run, { agent, store, signal, onEvent });
    });
    if (signal.aborted) throw new PlatformError('cancelled', 'interrupted');
    const all = {
      ...result,
      unusable: [...result.unusable, ...unusable.map(({ name, reason }) => ({ model: name, reason }))],
    };
    for (const row of result.rows) yield buildEstimate(row);
    yield { kind: 'done', result: all, partial: partial || unusable.length > 0 };
  },
};
