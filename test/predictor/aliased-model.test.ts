import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ModelProto } from '../../src/generated/onnx/onnx.js';
import { aliasedModel } from '../../src/predictor/encode-weights.js';
import type { FillableWeight } from '../../src/predictor/materialize.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const folder = await temporaryFolder({ after });

describe('weights of a file while its graph is optimized', () => {
  const path = join(folder, 'weights.bin');
  writeFileSync(path, new Uint8Array(Float32Array.from([1, 2, 3, 4]).buffer));
  const weight = (name: string, dims: readonly number[], byteLength: number): FillableWeight => ({
    name,
    role: 'weight',
    elementType: 'float32',
    dims,
    fill: { low: 0, high: 1, seed: 1 },
    data: { kind: 'file', path, offset: 0, byteLength },
  });
  // The large ones are not in the file at all: reading them would fail.
  const large = ['a', 'b'].map((name) => weight(name, [1024, 1024], 2 ** 22));
  const { model, files } = aliasedModel({ graph: new Uint8Array(), weights: [weight('small', [4], 16), ...large] });

  test('are read if they are small, since they may decide which kernels are made', () => {
    const small = ModelProto.decode(model).graph?.initializer.find(({ name }) => name === 'small');
    assert.deepEqual([...new Float32Array(Uint8Array.from(small?.rawData ?? []).buffer)], [1, 2, 3, 4]);
  });

  test('share the space of one weight if they are large, and are not read', () => {
    assert.deepEqual(
      files.map(({ byteLength }) => byteLength),
      [2 ** 22],
    );
    assert.doesNotThrow(() => files.flatMap(({ pieces }) => pieces.flatMap(({ blocks }) => [...blocks])));
  });
});
