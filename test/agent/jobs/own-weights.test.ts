import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { kernelDifferences } from '../../../plugins/dlbricks/bricks/own-graph.js';
import { PlatformError } from '../../../src/base/errors.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import { modelFromBenchmark, weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { buildRunOptions } from '../../../src/measurement/system.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { readModel } from '../../../src/onnx/read/read-model.js';
import { floats, model, node, value } from '../../onnx/protos.js';
import { quantizedConv, type QuantizedConvOptions } from '../../onnx/quantized-conv.js';
import { agentForSuite } from '../support/running-agent.js';
import { TWO_RUNS } from '../support/measured-bricks.js';
import { measureOne } from '../support/measure-one.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

const RUN_OPTIONS = buildRunOptions(1);

const folder = await temporaryFolder({ after });

describe('a model with its own weights', { timeout: 300_000 }, () => {
  const weightFiles = new Map<string, string>();
  const agent = agentForSuite({ weightFiles });

  /** Two benchmarks of a file with a quantized convolution: one with made-up weights, one with those of the file. */
  async function convolution(name: string, options?: QuantizedConvOptions): Promise<readonly [Benchmark, Benchmark]> {
    const path = join(folder, name);
    writeFileSync(path, quantizedConv(options));
    weightFiles.set(name, path);
    const filled = weightlessBenchmark(await readModel(path));
    return [filled, { ...filled, weights: name }];
  }

  const optimizedOf = async (benchmark: Benchmark): Promise<Model> => {
    return modelFromBenchmark((await agent().client.optimize(benchmark, RUN_OPTIONS)).benchmark, 'optimized');
  };

  const cases: Readonly<Record<string, QuantizedConvOptions>> = {
    'as a quantizer writes it': {},
    'with a Relu that quantizing makes superfluous': { activation: 'Relu' },
    'with a Relu that quantizing keeps necessary': { activation: 'Relu', zeroPoint: 7 },
    'clipped at the end of its quantized range': { activation: 'Clip', scale: 6 / 255 },
  };
  for (const [name, options] of Object.entries(cases)) {
    test(`has the same kernels as with made-up weights: ${name}`, async () => {
      const [filled, own] = await convolution(`${name}.onnx`, options);
      assert.deepEqual(kernelDifferences(await optimizedOf(own), await optimizedOf(filled)), []);
    });
  }

  test('keeps its quantized convolution', async () => {
    const [filled] = await convolution('quantized.onnx');
    const { nodes } = (await optimizedOf(filled)).graph;
    assert.ok(nodes.some(({ opType }) => opType === 'QLinearConv'));
  });

  test('shows where made-up weights give other kernels', async () => {
    const [filled, own] = await convolution('wrong.onnx', { biasFactor: 2 });
    const differences = kernelDifferences(await optimizedOf(own), await optimizedOf(filled));
    const conv = differences.find(({ operator }) => operator.endsWith('QLinearConv'));
    assert.deepEqual([conv?.ofFile, conv?.madeUp], [0, 1]);
  });

  test('is measured', async () => {
    const [, own] = await convolution('measured.onnx');
    assert.equal((await measureOne(agent().client, own, RUN_OPTIONS, TWO_RUNS)).outcome.kind, 'samples');
  });

  test('has the values of its own run, also of the optimized graph, whose large weights are real then', async () => {
    const path = join(folder, 'selecting.onnx');
    // Half of 20,000 weights are zero.
    const halves = Array.from({ length: 20_000 }, (_, at) => at % 2);
    const nodes = [node('Mul', ['x', 'w'], ['product']), node('NonZero', ['product'], ['y'])];
    const ends = { input: [value('x', [20_000])], output: [value('y', undefined, 'int64')] };
    writeFileSync(path, model({ node: nodes, initializer: [floats('w', halves)], ...ends }));
    weightFiles.set('selecting', path);
    const own = { ...weightlessBenchmark(await readModel(path)), weights: 'selecting' };
    const { client } = agent();
    const inferred = await client.inferTypes(own, undefined, { steeringValues: true });
    const { values } = await client.optimize(own, RUN_OPTIONS, undefined, { steeringValues: true });
    for (const found of [inferred, values]) {
      assert.deepEqual(found.get('y')?.dims, [1, 10_000]);
      const product = new Float32Array(new Uint8Array(found.get('product')?.content ?? []).buffer);
      assert.equal(product.filter((element) => element === 0).length, 10_000);
    }
  });

  test('is refused by an agent that was not given its file', async () => {
    const [, own] = await convolution('given.onnx');
    await assert.rejects(
      () => optimizedOf({ ...own, weights: join(folder, 'given.onnx') }),
      (error) => error instanceof PlatformError && /no file with the benchmark's weights/.test(error.message),
    );
  });
});
