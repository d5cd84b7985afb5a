import { groupedBy, median } from '../../../src/plugin-api.js';
import { type CommonError, KernelPredictor, type Prediction, type Unknown } from '../predict/kernel-predictor.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { hasTypes } from './match-level.js';
import type { Occurrence } from './trace-book.js';

/** Predicts layers that traces did not measure from those with the same operator that they did. */
export class LayerPredictor {
  private readonly kernels: KernelPredictor;
  private readonly hasTypes: boolean;

  /** @param occurrences the measurements to use; those of several layers at once are ignored */
  constructor(occurrences: readonly Occurrence[]) {
    const single = occurrences.filter(({ layers, ms }) => layers.length === 1 && ms > 0);
    this.hasTypes = single.every(({ layers }) => layers.every(hasTypes));
    const measured = [...groupedBy(single, ({ identity }) => identity).values()].flatMap((same) => {
      const [{ layers: [layer] = [], model = '' } = {}] = same;
      if (layer === undefined) return [];
      return [{ facts: this.comparable(layer), footprintBytes: 0, ms: median(same.map(({ ms }) => ms)), model }];
    });
    this.kernels = new KernelPredictor(measured);
  }

  /** What traces hold of a layer: a model's file also has its domain, and which of its inputs are weights. */
  private comparable({ operator, attributes, inputs, outputs, operations, bytes }: LayerFacts): LayerFacts {
    const tensors = (all: LayerFacts['inputs']): LayerFacts['inputs'] => {
      return this.hasTypes ? all : all?.map(({ dims }) => ({ dims }));
    };
    return { operator, attributes, inputs: tensors(inputs), outputs: tensors(outputs), operations, bytes };
  }

  predict(layer: LayerFacts): Prediction | Unknown {
    return this.kernels.predict([this.comparable(layer)], 0);
  }

  get commonError(): CommonError {
    return this.kernels.commonError;
  }
}
