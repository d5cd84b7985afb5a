import { measurementKey, type Measurement } from '../measurement/measurement.js';
import { measurementId } from '../store/measurement-id.js';
import type { ResultStore } from '../store/result-store.js';
import type { EvaluatedModel } from './evaluated.js';
import { keepEvaluated, type KeepOptions } from './keep-evaluated.js';

export interface WholeModel extends EvaluatedModel {
  readonly host: string;
  readonly measurement: Measurement;
}

/** At MODEL_TRACE. A failed measurement is not stored. @throws PlatformError as {@link keepEvaluated} */
export async function keepWholeModel(store: ResultStore, whole: WholeModel, options?: KeepOptions): Promise<void> {
  const { host, measurement, ...model } = whole;
  const { system, protocol, outcome, signature, measuredAt } = measurement;
  if (outcome.kind !== 'samples') return;
  const key = measurementKey(measurement);
  const evaluated = {
    id: `${model.name} ${measurementId(key)}`,
    runId: JSON.stringify([system.fingerprint, protocol]),
    model,
    system,
    host,
    endedAt: measuredAt,
    level: 'MODEL_TRACE' as const,
    warmupMs: outcome.warmupMs,
    runs: outcome.runMs.map((durationMs) => ({ durationMs, layers: [] })),
    metadata: {
      signature,
      protocol: key.setup,
      ...(model.dimensions !== undefined && { dimensions: model.dimensions }),
    },
  };
  await keepEvaluated(store, evaluated, options);
}
