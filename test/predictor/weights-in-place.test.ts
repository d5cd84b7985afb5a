import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { TensorProto_DataLocation } from '../../src/generated/onnx/onnx.js';
import { weightlessBenchmark } from '../../src/measurement/weightless.js';
import { readModel } from '../../src/onnx/read/read-model.js';
import { makeFeeds } from '../../src/predictor/materialize.js';
import { modelWithOwnWeights } from '../../src/predictor/model-with-own-weights.js';
import { openFilledModel } from '../../src/predictor/open-filled-model.js';
import { onnxRuntimePredictor } from '../../src/predictor/onnxruntime/predictor.js';
import type { ModelSource, Predictor } from '../../src/predictor/predictor.js';
import { runOptions } from '../agent/support/tiny-benchmarks.js';
import { model, node, tensor, value } from '../onnx/protos.js';
import { floatsOf } from './values.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const folder = await temporaryFolder({ after });

/** The shape of the weights. The reader leaves weights of this size in their file. */
const ROWS = 64;
const COLUMNS = 512;
const WEIGHTS = Float32Array.from({ length: ROWS * COLUMNS }, (_, index) => index % 7);
/** The offset of the weights in the file, which is not at the start of a page. */
const OFFSET = 12;

/** Writes y = x w, with w in a file in a folder beside the model. @returns the model's path */
function writeModel(): string {
  const beside = join(folder, 'model');
  mkdirSync(join(beside, 'parts'), { recursive: true });
  const entries = { location: 'parts/weights.bin', offset: `${OFFSET}`, length: `${WEIGHTS.byteLength}` };
  const externalData = Object.entries(entries).map(([key, text]) => ({ key, value: text }));
  const dataLocation = TensorProto_DataLocation.EXTERNAL;
  const file = model({
    input: [value('x', [1, ROWS])],
    node: [node('MatMul', ['x', 'w'], ['y'])],
    output: [value('y', [1, COLUMNS])],
    initializer: [tensor('w', 'float32', [ROWS, COLUMNS], { externalData, dataLocation })],
  });
  writeFileSync(join(beside, entries.location), Buffer.concat([Buffer.alloc(OFFSET), Buffer.from(WEIGHTS.buffer)]));
  writeFileSync(join(beside, 'model.onnx'), file);
  return join(beside, 'model.onnx');
}

/** A predictor that records its model source, and the files in the temporary folder at that time. */
function watched(temporaryFolder: string) {
  const seen: { source?: ModelSource; files?: readonly string[] } = {};
  const real = onnxRuntimePredictor();
  const predictor: Predictor = {
    ...real,
    open(source, options) {
      seen.source = source;
      seen.files = readdirSync(temporaryFolder);
      return real.open(source, options);
    },
  };
  return { predictor, seen };
}

describe('weights in a file beside a model', () => {
  const path = writeModel();
  const linked = join(folder, 'linked');
  symlinkSync(join(folder, 'model'), linked);
  const places = { 'in a folder': path, 'in a folder that is a link': join(linked, 'model.onnx') };

  for (const [what, file] of Object.entries(places)) {
    test(`are read from there, and not copied: ${what}`, async () => {
      const temporaryFolder = mkdtempSync(join(folder, 'temporary-'));
      const { predictor, seen } = watched(temporaryFolder);
      const benchmark = weightlessBenchmark(await readModel(file));
      const fillable = await modelWithOwnWeights(benchmark, file);
      const open = await openFilledModel(predictor, fillable, runOptions, { temporaryFolder });
      const feeds = makeFeeds(benchmark);
      const outputs = await open.prepare(feeds).evaluate();
      await open.close();

      assert.deepEqual(seen.files, []);
      assert.equal(seen.source?.kind, 'bytes');
      assert.ok(seen.source.bytes.length < 1024, 'the weight is in the model');
      const x = floatsOf([...feeds.values()][0]);
      const y = floatsOf([...outputs.values()][0]);
      const expected = y.map((_, j) => x.reduce((sum, xi, i) => sum + xi * (WEIGHTS[i * COLUMNS + j] ?? NaN), 0));
      assert.ok(y.every((yj, j) => Math.abs(yj - (expected[j] ?? NaN)) < 1e-3));
    });
  }
});
