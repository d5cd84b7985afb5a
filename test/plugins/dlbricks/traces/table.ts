import type { MeasuredLayer, TracedModel } from '../../../../src/plugin-api.js';

/** A row of a made-up table: operator, size of its output, milliseconds of each run. */
export type Row = readonly [operator: string, size: number, ...runsMs: number[]];

/** A layer that reads and writes a tensor of `size` elements. */
export function layer(index: number, [operator, size, ...samplesMs]: Row): MeasuredLayer {
  const tensors = [{ elementType: 'float32', dims: [1, size] }];
  return {
    index: String(index),
    name: `l${index}`,
    operator,
    inputs: tensors,
    outputs: tensors,
    attributes: {},
    samplesMs,
    runs: samplesMs.length,
  };
}

/** A traced model with these layers. */
export function traced(model: string, rows: readonly Row[], more: Partial<TracedModel> = {}): TracedModel {
  const layers = rows.map((row, index) => layer(index, row));
  return {
    model,
    system: 'here',
    source: `${model}.csv`,
    traceIds: [],
    layers,
    wholeMs: [],
    tracedWholeMs: [],
    ...more,
  };
}
