import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GraphProto, ModelProto, ValueInfoProto } from '../../src/generated/onnx/onnx.js';
import { elementCount } from '../../src/onnx/model/element-type.js';
import type { InferenceSession as Session } from 'onnxruntime-node';
import { fillBlocks } from '../../src/onnx/values/fill.js';
import type { Model } from '../../src/onnx/model/model.js';
import { readModel } from '../../src/onnx/read/read-model.js';
import { toTypeProto } from '../../src/onnx/write/write-model.js';
import { InferenceSession, Tensor } from '../../src/predictor/onnxruntime/library.js';
import { ensureZooModel } from '../../src/zoo/cache.js';
import { buildZooModel, CLASSICS } from '../../src/zoo/zoo.js';

type Dimensions = Readonly<Record<string, number>>;

/** Below this, float32 numbers are denormal. */
const MIN_NORMAL = 2 ** -126;

function dimsOf(model: Model, name: string, dimensions: Dimensions): number[] {
  const dims = model.graph.types.get(name)?.dims ?? assert.fail(`${name} has no shape`);
  return dims.map((dim) => (typeof dim === 'number' ? dim : (dimensions[dim] ?? assert.fail(`${dim} is not bound`))));
}

/** Made-up inputs; 0 and 1 are valid everywhere where the zoo takes integers. */
function feedsOf(model: Model, dimensions: Dimensions): Record<string, Tensor> {
  const tensor = (name: string): Tensor => {
    const dims = dimsOf(model, name, dimensions);
    const isInteger = model.graph.types.get(name)?.elementType === 'int64';
    const fill = { low: isInteger ? 0 : -1, high: 1, seed: 1 };
    const blocks = [...fillBlocks(isInteger ? 'int64' : 'float32', elementCount(dims), fill)].map((block) =>
      block.slice(),
    );
    const bytes = new Uint8Array(Buffer.concat(blocks)).buffer;
    return isInteger
      ? new Tensor('int64', new BigInt64Array(bytes), dims)
      : new Tensor('float32', new Float32Array(bytes), dims);
  };
  return Object.fromEntries(model.graph.inputs.map((name) => [name, tensor(name)]));
}

async function withSession(
  file: string,
  options: Session.SessionOptions,
  use: (session: InferenceSession) => Promise<void>,
): Promise<void> {
  const session = await InferenceSession.create(file, { intraOpNumThreads: 1, logSeverityLevel: 3, ...options });
  try {
    await use(session);
  } finally {
    await session.release();
  }
}

/**
 * Makes every value of a model's file an output: in protocol buffers, bytes that are appended to a message are merged
 * into it. This avoids a second copy of the weights.
 */
async function exposeEveryValue(file: string, { graph }: Model): Promise<void> {
  const hidden = [...graph.types].filter(([name]) => !graph.inputs.includes(name) && !graph.outputs.includes(name));
  const output = hidden.map(([name, type]) => ValueInfoProto.create({ name, type: toTypeProto(type) }));
  await appendFile(
    file,
    ModelProto.encode({ ...ModelProto.create(), graph: { ...GraphProto.create(), output } }).finish(),
  );
}

function assertSane(name: string, tensor: Tensor | undefined): void {
  assert.ok(tensor?.data instanceof Float32Array, `${name} is no float32`);
  const { data } = tensor;
  // By index, because an iterator takes eight times as long.
  for (let i = 0; i < data.length; i++) {
    const value = data[i] ?? NaN;
    const isSane = Number.isFinite(value) && (value === 0 || Math.abs(value) >= MIN_NORMAL);
    if (!isSane) assert.fail(`${name} holds ${value}`);
  }
}

/** Sizes that no model has by itself, so that no fixed number can be mistaken for a symbol. */
const SIZES: Dimensions = { batch: 2, sequence: 7 };

/** VGG-19 repeats layers of VGG-16, and has 575 MB of weights. */
const DIFFERENT = CLASSICS.filter(({ name }) => name !== 'vgg19');

for (const { name, dimensions } of DIFFERENT) {
  describe(name, { timeout: 600_000 }, () => {
    const model = buildZooModel(name);
    let cacheDir = '';
    before(async () => {
      cacheDir = await mkdtemp(path.join(tmpdir(), 'zoo-runtime-'));
    });
    after(() => rm(cacheDir, { recursive: true, force: true }));

    test('onnxruntime-node runs it as it is', async () => {
      const file = await ensureZooModel(name, { cacheDir });
      await withSession(file, {}, async (session) => {
        const results = await session.run(feedsOf(model, dimensions));
        for (const output of model.graph.outputs) {
          assert.deepEqual(results[output]?.dims, dimsOf(model, output, dimensions));
          assertSane(output, results[output]);
        }
      });
    });

    test('its file reads back as the graph that was built', async () => {
      const read = await readModel(await ensureZooModel(name, { cacheDir }));
      const { initializers: readTensors, ...readGraph } = read.graph;
      const { initializers: builtTensors, ...builtGraph } = model.graph;
      assert.deepEqual(readGraph, builtGraph);
      assert.deepEqual([...readTensors.keys()], [...builtTensors.keys()]);
      assert.deepEqual([read.irVersion, read.opsets], [model.irVersion, model.opsets]);
    });

    test('every value has the shape that the file says, and no infinite or denormal number', async () => {
      const file = await ensureZooModel(name, { cacheDir });
      await exposeEveryValue(file, model);
      const unfused = { graphOptimizationLevel: 'disabled', enableCpuMemArena: false } as const;
      await withSession(file, unfused, async (session) => {
        const results = await session.run(feedsOf(model, SIZES));
        for (const value of model.graph.nodes.flatMap((node) => node.outputs)) {
          assert.deepEqual(results[value]?.dims, dimsOf(model, value, SIZES), value);
          assertSane(value, results[value]);
        }
      });
    });
  });
}
