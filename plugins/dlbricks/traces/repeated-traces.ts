import { createHash } from 'node:crypto';
import { nameOf, type TracedModel } from '../../../src/plugin-api.js';

export interface RepeatedTrace {
  readonly model: string;
  readonly source: string;
}

/** Hash of a trace's measurements, for traces without ids. */
function hashContent(model: TracedModel): string {
  const hash = createHash('sha256').update(JSON.stringify([nameOf(model), model.wholeMs, model.tracedWholeMs]));
  for (const { index, last, granularity, operator, runs, samplesMs } of model.layers) {
    hash.update(JSON.stringify([index, last, granularity, operator, runs, samplesMs]));
  }
  return hash.digest('hex');
}

/**
 * Leaves out models whose traces are all in other models as well, by their ids, or by their content where they have no
 * ids. A model with more traces takes precedence. @param models all of one system
 */
export function withoutRepeated(models: readonly TracedModel[]) {
  const seen = new Set<string>();
  const left = new Set<TracedModel>();
  for (const model of models.toSorted((a, b) => b.traceIds.length - a.traceIds.length)) {
    const name = nameOf(model);
    const ids = model.traceIds.map((id) => JSON.stringify([name, id]));
    const content = hashContent(model);
    if (seen.has(content) || (ids.length > 0 && ids.every((id) => seen.has(id)))) left.add(model);
    for (const key of [...ids, content]) seen.add(key);
  }
  const repeated = models.filter((model) => left.has(model));
  return {
    models: models.filter((model) => !left.has(model)),
    repeated: repeated.map((model): RepeatedTrace => ({ model: nameOf(model), source: model.source })),
  };
}
