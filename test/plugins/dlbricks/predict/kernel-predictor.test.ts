import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KernelPredictor, type MeasuredKernel } from '../../../../plugins/dlbricks/predict/kernel-predictor.js';
import type { LayerFacts } from '../../../../plugins/dlbricks/work/layer-facts.js';
import { normalNumbers } from '../support/noise.js';

const FOOTPRINT_BYTES = 2 ** 20;

function tensor(...dims: readonly number[]) {
  return { elementType: 'float32', dims };
}

/** A product with weights. */
function product(rows: number, length: number, columns: number, operator = 'MatMul'): LayerFacts {
  const inputs = [tensor(rows, length), tensor(length, columns)];
  return { operator, inputs, outputs: [tensor(rows, columns)], activations: [0] };
}

/** 50 GFLOP/s, and half of that for few rows. */
function msOf(rows: number, length: number, columns: number): number {
  return ((2 * rows * length * columns) / 5e7) * (1 + 8 / (rows + 8)) + 0.002;
}

const SIZES = [64, 128, 256, 512, 768, 1024];

/** Products of several models, with errors that all of a model have in common and that each has of its own. */
function measuredProducts(models: number, { common, own, seed = 1 }: { common: number; own: number; seed?: number }) {
  const noise = normalNumbers(seed);
  return Array.from({ length: models }, (_, model): MeasuredKernel[] => {
    const shift = common * noise();
    return SIZES.map((columns, index) => {
      const rows = 32 + 24 * ((model + index) % 5);
      const length = SIZES[(index + model) % SIZES.length] ?? 64;
      const ms = msOf(rows, length, columns) * Math.exp(shift + own * noise());
      return { facts: product(rows, length, columns), footprintBytes: FOOTPRINT_BYTES, ms, model: `model ${model}` };
    });
  });
}

describe('a kernel that was not measured', () => {
  test('is predicted from measured kernels of the same operator', () => {
    const predictor = new KernelPredictor(measuredProducts(8, { common: 0, own: 0 }).flat());
    for (const [rows, length, columns] of [
      [48, 384, 640],
      [100, 200, 900],
    ] as const) {
      const found = predictor.predict([product(rows, length, columns)], FOOTPRINT_BYTES);
      assert.ok(found.kind === 'predicted');
      const error = found.ms / msOf(rows, length, columns) - 1;
      assert.ok(Math.abs(error) < 0.06, `${error}`);
    }
  });

  test('of another batch than all measured ones takes as much longer as it has more to do', () => {
    const convolution = (batch: number, side: number, channels: number, filters: number): LayerFacts => {
      const inputs = [tensor(batch, channels, side, side), tensor(filters, channels, 3, 3)];
      return { operator: 'Conv', inputs, outputs: [tensor(batch, filters, side, side)], activations: [0] };
    };
    // Slower with more weights.
    const convolutionMs = (batch: number, side: number, channels: number, filters: number): number => {
      return ((batch * side ** 2 * 9 * channels * filters) / 5e7) * (channels / 64) * (filters / 64) ** 0.5;
    };
    const measured = [7, 14, 28, 56, 112].flatMap((side) => {
      return SIZES.map((filters, index): MeasuredKernel => {
        const channels = SIZES[(index * side) % SIZES.length] ?? 64;
        const ms = convolutionMs(1, side, channels, filters);
        return { facts: convolution(1, side, channels, filters), footprintBytes: 0, ms, model: `model ${index}` };
      });
    });
    const found = new KernelPredictor(measured).predict([convolution(8, 28, 256, 256)], 0);
    assert.ok(found.kind === 'predicted');
    const error = found.ms / convolutionMs(8, 28, 256, 256) - 1;
    assert.ok(Math.abs(error) < 0.2, `${error}`);
  });

  test('of several kernels takes as long as all of them', () => {
    const predictor = new KernelPredictor(measuredProducts(8, { common: 0, own: 0 }).flat());
    const one = product(48, 384, 640);
    const other = product(100, 200, 900);
    const ms = (kernels: readonly LayerFacts[]): number => {
      const found = predictor.predict(kernels, FOOTPRINT_BYTES);
      return found.kind === 'predicted' ? found.ms : NaN;
    };
    assert.ok(Math.abs(ms([one, other]) - ms([one]) - ms([other])) < 1e-9);
  });

  test('is null, with the reason, where its operator was measured less than three times, in another type, or its shape is not known', () => {
    const [first = []] = measuredProducts(1, { common: 0, own: 0 });
    const reasonOf = (measured: readonly MeasuredKernel[], facts: LayerFacts): string => {
      const found = new KernelPredictor(measured).predict([facts], FOOTPRINT_BYTES);
      return found.kind === 'unknown' ? found.reason : assert.fail(`${found.ms} ms`);
    };
    const wanted = product(48, 384, 640);
    assert.match(reasonOf(first.slice(0, 2), wanted), /2 kernels like this MatMul were measured .* 3 are needed/);
    assert.match(reasonOf(first, product(48, 384, 640, 'Gemm')), /0 kernels like this Gemm/);
    const inHalf = { ...wanted, inputs: wanted.inputs?.map(({ dims }) => ({ elementType: 'float16', dims })) };
    assert.match(reasonOf(first, inHalf), /0 kernels like this MatMul/);
    assert.match(reasonOf(first, { operator: 'MatMul' }), /shapes of MatMul are not known/);
    assert.match(reasonOf([], wanted), /0 kernels/);
  });

  test('is null, with the reason, where values decide its work', () => {
    const predictor = new KernelPredictor(measuredProducts(3, { common: 0, own: 0 }).flat());
    const steered = predictor.predict([{ ...product(32, 64, 64), isSteered: true }], FOOTPRINT_BYTES);
    assert.deepEqual(steered, { kind: 'unknown', reason: 'cannot be predicted: values decide the work of MatMul' });
  });

  test('is less certain the less it is like the measured ones', () => {
    const measured = measuredProducts(8, { common: 0, own: 0.03 }).flat();
    const predictor = new KernelPredictor(measured);
    const errorOf = (facts: LayerFacts): number => {
      const found = predictor.predict([facts], FOOTPRINT_BYTES);
      return found.kind === 'predicted' ? found.ownError : NaN;
    };
    const near = errorOf(measured[0]?.facts ?? product(1, 1, 1));
    const far = errorOf(product(40_000, 40_000, 40_000));
    assert.ok(far > 1.5 * near, `${far} and ${near}`);
  });

  test('with measurements of 0 ms, or with dimensions of 0, is still a number', () => {
    const [first = []] = measuredProducts(1, { common: 0, own: 0 });
    const zero = { ...first[0], facts: product(0, 0, 0), ms: 0 } as MeasuredKernel;
    const found = new KernelPredictor([...first, zero]).predict([product(0, 5, 5)], FOOTPRINT_BYTES);
    assert.ok(found.kind === 'predicted' && Number.isFinite(found.ms) && Number.isFinite(found.ownError));
  });
});

describe('the error of all predictions of a model', () => {
  test('is what models that were left out have in common', () => {
    const commonOf = (common: number, own: number): number => {
      const seeds = [1, 2, 3, 4, 5];
      const found = seeds.map((seed) => {
        return new KernelPredictor(measuredProducts(12, { common, own, seed }).flat()).commonError.relative;
      });
      return found.reduce((sum, one) => sum + one, 0) / seeds.length;
    };
    assert.ok(commonOf(0.1, 0.02) > 0.06);
    assert.ok(commonOf(0, 0.05) < 0.05);
  });

  test('is all of the error where the store has one model', () => {
    const [only = []] = measuredProducts(1, { common: 0, own: 0.1 });
    const { relative, degreesOfFreedom } = new KernelPredictor(only).commonError;
    assert.ok(relative > 0.02, `${relative}`);
    assert.equal(degreesOfFreedom, only.length - 1);
  });

  test('makes intervals that hold: models that were left out are within two standard deviations', () => {
    let held = 0;
    let all = 0;
    for (let seed = 1; seed <= 12; seed++) {
      const models = measuredProducts(10, { common: 0.05, own: 0.05, seed });
      for (const [left, kernels] of models.slice(0, 3).entries()) {
        const predictor = new KernelPredictor(models.filter((_, index) => index !== left).flat());
        let predicted = 0;
        let measured = 0;
        let variance = 0;
        for (const { facts, footprintBytes, ms } of kernels) {
          const found = predictor.predict([facts], footprintBytes);
          assert.ok(found.kind === 'predicted');
          predicted += found.ms;
          measured += ms;
          variance += (found.ms * found.ownError) ** 2;
        }
        const deviation = Math.hypot(predicted * predictor.commonError.relative, Math.sqrt(variance));
        held += Number(Math.abs(predicted - measured) < 2.2 * deviation);
        all++;
      }
    }
    assert.ok(held / all >= 0.85, `${held} of ${all}`);
  });
});
