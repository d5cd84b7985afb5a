import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ElementType } from '../../../src/onnx/element-type.js';
import { makeFeeds, materialize } from '../../../src/predictor/materialize.js';
import { openFilledModel } from '../../../src/predictor/open-filled-model.js';
import { onnxRuntimePredictor } from '../../../src/predictor/onnxruntime/predictor.js';
import {
  benchmarkOf,
  int64Constant,
  intAttribute,
  runOptions,
  type TinyGraph,
} from '../../agent/support/tiny-benchmarks.js';

const temporaryFolder = join(tmpdir(), 'mlmodelscope-test-never-made');

async function evaluate(graph: TinyGraph) {
  const benchmark = benchmarkOf(graph);
  const model = await openFilledModel(onnxRuntimePredictor(), materialize(benchmark), runOptions, { temporaryFolder });
  try {
    const feeds = makeFeeds(benchmark);
    return { feeds, outputs: await model.prepare(feeds).evaluate() };
  } finally {
    await model.close();
  }
}

/** What the runtime's JavaScript interface passes in and out, except for packed types. */
const FEEDABLE: readonly ElementType[] = [
  ...(['float16', 'float32', 'float64', 'int8', 'uint8', 'int16', 'uint16'] as const),
  ...(['int32', 'uint32', 'int64', 'uint64', 'bool'] as const),
];

describe('ONNX Runtime predictor', () => {
  for (const elementType of FEEDABLE) {
    test(`${elementType} goes in and comes out unchanged`, async () => {
      const { feeds, outputs } = await evaluate({
        inputs: { x: { dims: [3, 5], elementType } },
        nodes: [{ opType: 'Identity', inputs: ['x'], outputs: ['y'] }],
        outputs: ['y'],
      });

      const [fed, returned] = [feeds.get('x'), outputs.get('y')];
      assert.deepEqual(
        returned && { ...returned, bytes: [...returned.bytes] },
        fed && { ...fed, bytes: [...fed.bytes] },
      );
    });
  }

  test('a type that JavaScript cannot pass in is refused by name', async () => {
    const graph: TinyGraph = {
      inputs: { x: { dims: [3], elementType: 'bfloat16' } },
      nodes: [{ opType: 'Cast', inputs: ['x'], outputs: ['y'], attributes: [intAttribute('to', 1)] }],
      outputs: ['y'],
    };
    await assert.rejects(evaluate(graph), /Unsupported data type: 16/);
  });

  test('outputs that are not tensors are left out', async () => {
    const { outputs } = await evaluate({
      inputs: { x: { dims: [4] } },
      nodes: [
        { opType: 'SequenceConstruct', inputs: ['x', 'x'], outputs: ['sequence'] },
        { opType: 'SequenceAt', inputs: ['sequence', 'one'], outputs: ['y'] },
      ],
      outputs: ['sequence', 'y'],
      constants: { one: int64Constant([], [1]) },
    });

    assert.deepEqual([...outputs.keys()], ['y']);
  });

  test('the framework has the installed version', () => {
    assert.match(onnxRuntimePredictor().framework.version, /^\d+\.\d+\.\d+/);
  });
});
