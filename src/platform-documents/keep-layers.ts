import { randomUUID } from 'node:crypto';
import { isOutermost, type TracedKernel } from '../measurement/kernel-facts.js';
import type { System } from '../measurement/system.js';
import type { ResultStore } from '../store/result-store.js';
import type { EvaluatedModel, EvaluatedRun } from './evaluated.js';
import { keepEvaluated } from './keep-evaluated.js';

export interface LayeredModel extends EvaluatedModel {
  /** Of the runs' trace; undefined where none is kept. */
  readonly traceId: string | undefined;
  readonly host: string;
  readonly system: System;
  /** ISO 8601. */
  readonly endedAt: string;
  /** Runs without and with the runtime's profile. */
  readonly untracedMs: readonly number[];
  readonly tracedMs: readonly number[];
  readonly kernels: readonly Pick<TracedKernel, 'sequenceIndex' | 'name' | 'opName' | 'shape' | 'runMs'>[];
}

function tracedRuns({ tracedMs, kernels }: LayeredModel): readonly EvaluatedRun[] {
  // The platform's layers do not nest.
  const layers = kernels.filter(isOutermost);
  return tracedMs.map((durationMs, run) => ({
    durationMs,
    layers: layers.flatMap(({ name, opName, shape, runMs }) => {
      const layerMs = runMs[run];
      return layerMs === undefined ? [] : [{ name, opName, shape, durationMs: layerMs }];
    }),
  }));
}

/** At FRAMEWORK_TRACE with layers, and at MODEL_TRACE with the untraced runs. @throws as {@link keepEvaluated} */
export async function keepLayers(store: ResultStore, layered: LayeredModel): Promise<void> {
  const { traceId, host, system, endedAt, untracedMs, name, manifest, batchSize } = layered;
  const runId = traceId ?? randomUUID();
  const common = {
    runId,
    model: { name, manifest, batchSize },
    system,
    host,
    endedAt,
    warmupMs: [],
    metadata: traceId === undefined ? {} : { trace_id: traceId },
  };
  const untraced = untracedMs.map((durationMs) => ({ durationMs, layers: [] }));
  const levels = [
    { level: 'MODEL_TRACE', runs: untraced },
    { level: 'FRAMEWORK_TRACE', runs: tracedRuns(layered) },
  ] as const;
  for (const { level, runs } of levels) {
    await keepEvaluated(store, { ...common, id: `${runId} ${level}`, level, runs });
  }
}
