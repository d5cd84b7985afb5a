import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Prediction } from '../../../../plugins/dlbricks/predict/kernel-predictor.js';
import { LayerPredictor } from '../../../../plugins/dlbricks/traces/estimate-from-traces.js';
import { openTraceBook } from '../../../../plugins/dlbricks/traces/trace-book.js';
import type { LayerFacts } from '../../../../plugins/dlbricks/work/layer-facts.js';
import { layer, type Row, traced } from './table.js';

/** Time in ms: 0.01 ms, and 1 ns for each of the 8 bytes per element that are read and written. */
const costOf = (size: number): number => 0.01 + 8e-6 * size;

const SIZES = Array.from({ length: 12 }, (_, index) => Math.round(100 * 2.5 ** index));

function predictorFrom(rows: readonly Row[], adapt: (facts: LayerFacts) => LayerFacts = (facts) => facts) {
  const { occurrences } = openTraceBook(
    ['a', 'b', 'c'].map((name, model) =>
      traced(
        name,
        rows.filter((_, index) => index % 3 === model),
      ),
    ),
    undefined,
  );
  return new LayerPredictor(occurrences.map((one) => ({ ...one, layers: one.layers.map(adapt) })));
}

function predicted(predictor: LayerPredictor, facts: LayerFacts): Prediction {
  const found = predictor.predict(facts);
  return found.kind === 'predicted' ? found : assert.fail(found.reason);
}

const RELUS = SIZES.map((size): Row => ['Relu', size, costOf(size)]);

describe('an unmeasured layer', () => {
  test('is predicted from measured layers with the same operator, by the bytes that it moves', () => {
    const { ms } = predicted(predictorFrom(RELUS), layer(0, ['Relu', 300_000]));
    // Measurements count as exact to 5 %.
    assert(Math.abs(ms / costOf(300_000) - 1) < 0.03, String(ms));
  });

  test('is as uncertain as predictions of the measured layers from each other', () => {
    const noise = [1.3, 0.7, 1.25, 0.75, 1.2, 0.8];
    const errorFrom = (rows: readonly Row[]): number => {
      const predictor = predictorFrom(rows);
      return Math.hypot(predicted(predictor, layer(0, ['Relu', 300_000])).ownError, predictor.commonError.relative);
    };
    const noisy = errorFrom(SIZES.map((size, i): Row => ['Relu', size, costOf(size) * (noise[i % 6] ?? 1)]));
    assert(noisy > 0.15, String(noisy));
    assert(errorFrom(RELUS) < noisy / 2, `${errorFrom(RELUS)} of ${noisy}`);
  });

  test('of a file is like those of traces, which know neither its weights nor, some of them, its element types', () => {
    const untyped = predictorFrom(RELUS, ({ inputs = [], outputs = [], ...facts }) => {
      const dimsOf = (tensors: typeof inputs) => tensors.map(({ dims }) => ({ dims }));
      return { ...facts, inputs: dimsOf(inputs), outputs: dimsOf(outputs) };
    });
    const asked = layer(0, ['Relu', 300_000]);
    const inFile = { ...asked, domain: 'ai.onnx', activations: [0] };
    assert.equal(predicted(untyped, inFile).ms, predicted(untyped, asked).ms);
  });

  test('without shapes is predicted by its operations and bytes', () => {
    const counted = ({ operator, outputs }: LayerFacts): LayerFacts => {
      const operations = outputs?.[0]?.dims[1] ?? 0;
      return { operator, operations, bytes: 8 * operations };
    };
    const predictor = predictorFrom(RELUS, counted);
    const { ms } = predicted(predictor, counted(layer(0, ['Relu', 300_000])));
    assert(Math.abs(ms / costOf(300_000) - 1) < 0.1, String(ms));
  });

  test('stays missing if too few layers with its operator were measured, or if its size is unknown', () => {
    const predictor = predictorFrom([...RELUS.slice(0, 4), ['Tanh', 100, 1], ['Tanh', 200, 1]]);
    const reasonOf = (facts: LayerFacts): string => {
      const found = predictor.predict(facts);
      return found.kind === 'unknown' ? found.reason : assert.fail(`${found.ms} ms`);
    };
    assert.match(reasonOf(layer(0, ['Tanh', 150])), /2 kernels like this Tanh/);
    assert.match(reasonOf(layer(0, ['Erf', 150])), /0 kernels like this Erf/);
    assert.match(reasonOf({ operator: 'Relu' }), /shapes of Relu are not known/);
  });
});
