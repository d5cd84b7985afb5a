import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { type TensorProto, TensorProto_DataLocation } from '../../src/generated/onnx/onnx.js';
import { latencyResultSchema } from '../../plugins/latency/latency-result.js';
import { floats, integers, model, node, tensor, value } from '../onnx/protos.js';
import { deadline } from './support/command.js';
import { reportIn } from './support/report.js';
import { AS_STORED, ONCE, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** The tensor with its values in a file that nobody has. */
function elsewhere(whole: TensorProto): TensorProto {
  const dataLocation = TensorProto_DataLocation.EXTERNAL;
  return {
    ...whole,
    rawData: new Uint8Array(),
    dataLocation,
    externalData: [{ key: 'location', value: 'm.onnx.data' }],
  };
}

const empty = (whole: TensorProto): TensorProto => ({ ...whole, rawData: new Uint8Array() });

/** Looks up 8 numbers for each of 4 indices that are in the file, multiplies them with a weight, and reshapes. */
function network(without: (whole: TensorProto) => TensorProto, names: readonly string[]): Uint8Array {
  const constants = [
    floats('table', new Array<number>(512 * 8).fill(0.25), [512, 8]),
    floats('w', new Array<number>(64).fill(0.5), [8, 8]),
    integers('shape', [1n, 32n]),
    integers('ids', [3n, 100n, 7n, 511n]),
    floats('lowest', [-1], []),
  ];
  return model({
    initializer: constants.map((constant) => (names.includes(constant.name) ? without(constant) : constant)),
    input: [value('x', [4, 8])],
    node: [
      node('Gather', ['table', 'ids'], ['rows']),
      node('Add', ['x', 'rows'], ['sum']),
      node('MatMul', ['sum', 'w'], ['product']),
      node('Clip', ['product', 'lowest'], ['clipped']),
      node('Reshape', ['clipped', 'shape'], ['y']),
    ],
    output: [value('y', [1, 32])],
  });
}

const RUN = [...QUICK, ...ONCE, ...AS_STORED];

describe('a model whose weights are not here', { ...deadline, concurrency: 2 }, () => {
  for (const [what, without, place] of [
    ['in a file that is missing', elsewhere, /"m\.onnx\.data" is missing from \./],
    ['nowhere', empty, /m\.onnx has no values for them/],
  ] as const) {
    it(`is estimated, with a note, where its values are ${what}`, async (t) => {
      const here = await workplaceHere(t);
      await here.write(
        'whole.onnx',
        network((each) => each, []),
      );
      await here.write('m.onnx', network(without, ['table', 'w']));
      const whole = await here.run(['dlbricks', 'run', 'whole.onnx', ...RUN]);
      assert.equal(whole.code, 0, whole.stderr);
      assert.doesNotMatch(whole.stderr, /made up/);
      const ending = await here.run(['dlbricks', 'run', 'm.onnx', ...RUN, '--export-json', '-']);
      assert.equal(ending.code, 0, ending.stderr);
      assert.match(ending.stderr, /^note: m: the values of 2 of 5 constants are made up, because /m);
      assert.match(ending.stderr, place);
      assert.match(ending.stderr, / 0 measurements to take, /, 'its bricks are those of the complete file');
      assert.equal(reportIn(ending).models[0]?.coverage, 1);
    });
  }

  it('is measured whole with made-up weights, with the same note', async (t) => {
    const here = await workplaceHere(t);
    await here.write('m.onnx', network(elsewhere, ['table', 'w']));
    const ending = await here.run(['latency', 'm.onnx', ...QUICK, ...AS_STORED, '--export-json', '-']);
    assert.equal(ending.code, 0, ending.stderr);
    assert.match(ending.stderr, /the values of 2 of 5 constants are made up/);
    assert.equal(latencyResultSchema.parse(JSON.parse(ending.stdout)).models.length, 1);
  });

  it('is estimated with a warning that names the constants that choose kernels', async (t) => {
    const here = await workplaceHere(t);
    await here.write('m.onnx', network(elsewhere, ['w', 'ids', 'lowest']));
    const ending = await here.run(['dlbricks', 'run', 'm.onnx', ...RUN]);
    assert.equal(ending.code, 0, ending.stderr);
    assert.match(ending.stderr, /kernels may depend on "ids", "lowest"\. Put the file with the values there/);
  });

  it('is refused where missing values decide sizes, with their names', async (t) => {
    const here = await workplaceHere(t);
    await here.write('m.onnx', network(elsewhere, ['w', 'shape']));
    const ending = await here.run(['dlbricks', 'run', 'm.onnx', ...RUN]);
    assert.equal(ending.code, 2);
    assert.match(ending.stderr, /m\.onnx: sizes in the graph depend on the values of "shape", and "m\.onnx\.data"/);
    assert.match(ending.stderr, /Put the file with the values there, or export the model with its small constants/);
  });

  it('is refused where sizes are computed from missing values', async (t) => {
    const here = await workplaceHere(t);
    const trips = elsewhere(tensor('trips', 'int64', [], {}));
    const range = [node('Range', ['zero', 'end', 'one'], ['r']), node('Add', ['x', 'r'], ['y'])];
    const scalar = (name: string, number: bigint) => integers(name, [number], []);
    await here.write(
      'range.onnx',
      model({
        initializer: [scalar('zero', 0n), scalar('one', 1n), scalar('factor', 2n), trips],
        input: [value('x', [4], 'int64')],
        node: [node('Mul', ['trips', 'factor'], ['end']), ...range],
        output: [value('y')],
      }),
    );
    const ending = await here.run(['dlbricks', 'run', 'range.onnx', ...RUN]);
    assert.equal(ending.code, 2);
    assert.match(ending.stderr, /sizes in the graph depend on the values of "trips", and/);
  });

  it('predicts nothing', async (t) => {
    const here = await workplaceHere(t);
    const file = network(elsewhere, ['table', 'w']);
    await here.write('m.onnx', file);
    const manifest = {
      dlspec: 'model/v1',
      name: 'm',
      version: '1.0.0',
      framework: { name: 'onnxruntime', version: '>=1' },
      inputs: [{ layer_name: 'x', element_type: 'float32', dimensions: [4, 8] }],
      outputs: [{ layer_name: 'y', element_type: 'float32', dimensions: [1, 32] }],
      model: { graph_path: 'm.onnx', checksum: createHash('sha256').update(file).digest('hex') },
    };
    const path = await here.write('m.yml', JSON.stringify(manifest));
    const ending = await here.run(['predict', 'dataset', 'synthetic/1', '--model', path]);
    assert.equal(ending.code, 2);
    assert.match(ending.stderr, /external data is in "m\.onnx\.data", which cannot be read from .*\. Put the file/);
  });
});
