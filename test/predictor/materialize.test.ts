import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ErrorCode } from '../../src/base/errors.js';
import { refusal } from '../rpc/support/refusal.js';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import { makeFeeds, materialize } from '../../src/predictor/materialize.js';
import { openFilledModel } from '../../src/predictor/open-filled-model.js';
import { onnxRuntimePredictor } from '../../src/predictor/onnxruntime/predictor.js';
import { benchmarkOf, convolution, matMul, runOptions, unknownOperator } from '../agent/support/tiny-benchmarks.js';
import { floatsOf, matMulResult } from './values.js';

const predictor = onnxRuntimePredictor();

/** A folder that does not exist yet, in one that is removed afterwards. */
async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const parent = mkdtempSync(join(tmpdir(), 'mlmodelscope-test-'));
  try {
    return await use(join(parent, 'weights'));
  } finally {
    rmSync(parent, { recursive: true });
  }
}

/** The outputs of one run; without a limit the model is opened from memory. */
async function evaluate(benchmark: Benchmark, temporaryFolder: string, inlineLimitBytes?: number) {
  const options = inlineLimitBytes === undefined ? { temporaryFolder } : { temporaryFolder, inlineLimitBytes };
  const model = await openFilledModel(predictor, materialize(benchmark), runOptions, options);
  try {
    return await model.prepare(makeFeeds(benchmark)).evaluate();
  } finally {
    await model.close();
  }
}

describe('materialize', () => {
  test('weights are made from their seeds and inputs are fed', async () => {
    const outputs = await withFolder((folder) => evaluate(matMul, folder));

    const expected = matMulResult(matMul);
    const actual = floatsOf(outputs.get('y'));
    assert.ok(actual.every((value, j) => Math.abs(value - (expected[j] ?? NaN)) < 1e-5));
  });

  test('a model beyond the limit of one file gives the same outputs from external data', async () => {
    const inline = await withFolder((folder) => evaluate(convolution, folder));
    const external = await withFolder((folder) => evaluate(convolution, folder, 100));

    assert.deepEqual(floatsOf(external.get('y')), floatsOf(inline.get('y')));
  });

  test('external data is removed as soon as the model is open, and files of others beside it stay', async () => {
    await withFolder(async (temporaryFolder) => {
      await mkdir(temporaryFolder, { recursive: true });
      await writeFile(join(temporaryFolder, 'theirs'), '');
      const options = { temporaryFolder, inlineLimitBytes: 100 };
      const model = await openFilledModel(predictor, materialize(matMul), runOptions, options);
      try {
        assert.deepEqual(await readdir(temporaryFolder), ['theirs']);
        const outputs = await model.prepare(makeFeeds(matMul)).evaluate();
        const expected = matMulResult(matMul);
        assert.ok(floatsOf(outputs.get('y')).every((value, j) => Math.abs(value - (expected[j] ?? NaN)) < 1e-5));
      } finally {
        await model.close();
      }
    });
  });

  test('external data of a model that the runtime refuses is removed', async () => {
    await withFolder(async (temporaryFolder) => {
      const options = { temporaryFolder, inlineLimitBytes: 100 };
      await assert.rejects(openFilledModel(predictor, materialize(unknownOperator), runOptions, options));

      assert.equal(existsSync(temporaryFolder), false);
    });
  });

  test('every value can be made an output', async () => {
    const chain = benchmarkOf({
      inputs: { x: { dims: [3] } },
      nodes: [
        { opType: 'Relu', inputs: ['x'], outputs: ['hidden'] },
        { opType: 'Neg', inputs: ['hidden'], outputs: ['y'] },
      ],
      outputs: ['y'],
    });
    const fillable = materialize(chain, { everyValueIsOutput: true });
    await withFolder(async (temporaryFolder) => {
      const model = await openFilledModel(predictor, fillable, runOptions, { temporaryFolder });
      const outputs = await model.prepare(makeFeeds(chain)).evaluate();
      await model.close();

      assert.deepEqual([...outputs.keys()].sort(), ['hidden', 'y']);
    });
  });

  test('booleans are 0 or 1 for every range', () => {
    const flags = benchmarkOf({
      inputs: { x: { dims: [64], elementType: 'bool' } },
      nodes: [{ opType: 'Not', inputs: ['x'], outputs: ['y'] }],
      outputs: ['y'],
    });
    const inputs = flags.inputs.map((input) => ({ ...input, fill: { ...input.fill, low: -3, high: 9 } }));
    const bytes = makeFeeds({ ...flags, inputs }).get('x')?.bytes ?? new Uint8Array();

    assert.deepEqual([...new Set(bytes)].sort(), [0, 1]);
  });

  const broken: readonly { name: string; benchmark: Benchmark; code: ErrorCode; message: RegExp }[] = [
    {
      name: 'bytes that are no model',
      benchmark: { ...matMul, model: Uint8Array.of(255, 255, 255) },
      code: 'usage',
      message: /not an ONNX file/,
    },
    {
      name: 'a model without a graph',
      benchmark: { ...matMul, model: Uint8Array.of(8, 8) },
      code: 'usage',
      message: /no graph/,
    },
    {
      name: 'an input without a description',
      benchmark: { ...matMul, inputs: matMul.inputs.slice(0, 1) },
      code: 'usage',
      message: /the fill of the graph's input w is missing/,
    },
    {
      name: 'an input that the graph does not have',
      benchmark: { ...matMul, inputs: matMul.inputs.map((input) => ({ ...input, name: `${input.name}2` })) },
      code: 'usage',
      message: /the graph has no input x2/,
    },
    {
      name: 'weights of strings',
      benchmark: { ...matMul, inputs: matMul.inputs.map((input) => ({ ...input, elementType: 'string' })) },
      code: 'unsupported',
      message: /strings .* input w/,
    },
  ];
  for (const { name, benchmark, code, message } of broken) {
    test(`refuses ${name}`, () => {
      assert.throws(() => materialize(benchmark), refusal(code, message));
    });
  }
});
