import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import sharp from 'sharp';
import { agreementSchema } from '../../../../plugins/dlbricks/agree/agreement-result.js';
import type { Tensor } from '../../../../src/onnx/model/model.js';
import { encodeModelToBytes } from '../../../../src/onnx/write/write-model.js';
import { deadline, type Workplace } from '../../../cli/support/command.js';
import { chain } from '../../../cli/support/tiny-models.js';
import { workplaceHere } from '../../../cli/support/workplace-here.js';
import { floatTensor } from '../support/graph-builder.js';

const PICTURES = chain(['Relu', 'Sigmoid', 'Tanh'], ['batch', 3, 8, 8]);
const CHECKSUM = createHash('sha256').update(PICTURES).digest('hex');

/** A model that takes pictures of 8 x 8. */
function manifestOf(name: string, normalize: string): string {
  return `dlspec: model/v1
name: ${name}
version: 1.0.0
framework: { name: onnxruntime, version: '*' }
model: { graph_path: net.onnx, checksum: ${CHECKSUM} }
inputs:
  - layer_name: x
    element_type: float32
    dimensions: [batch, 3, 8, 8]
    steps: [{ decode: {} }, { resize: { height: 8, width: 8 } }, { normalize: ${normalize} }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 3, 8, 8] }]
`;
}

const RIGHT = '{ mean: [124, 117, 104], scale: 58 }';
const WRONG_MEAN = '{ mean: [0.485, 0.456, 0.406], scale: 58 }';

/** A graph by the inputs of its nodes, each with its output and its operator. */
function graphOf(layers: Readonly<Record<string, string>>, scale = 0.01): Uint8Array {
  const nodes = Object.entries(layers).map(([inputs, made]) => {
    const [output = '', opType = ''] = made.split(' ');
    return { name: '', opType, domain: '', inputs: inputs.split(' '), outputs: [output], attributes: [] };
  });
  const outputs = ['x', ...nodes.flatMap((node) => node.outputs)];
  const types = new Map(
    outputs.map((name) => [
      name,
      { elementType: name === 'q' ? ('uint8' as const) : ('float32' as const), dims: [1, 64] },
    ]),
  );
  const zero = { elementType: 'uint8', dims: [], data: { kind: 'inline', bytes: new Uint8Array(1) } } as const;
  const initializers = new Map<string, Tensor>([
    ['scale', floatTensor([scale], [])],
    ['zero', zero],
  ]);
  const graph = { name: 'net', nodes, inputs: ['x'], outputs: ['y'], types, initializers };
  return encodeModelToBytes({ source: 'net', irVersion: 8, opsets: new Map([['', 17]]), graph });
}

async function agreement(place: Workplace, args: readonly string[]) {
  const { stdout, stderr, code } = await place.run(['agree', '--export-json', '-', ...args]);
  assert.equal(code, 0, stderr);
  return agreementSchema.parse(JSON.parse(stdout));
}

async function placeWithPictureModels(t: Parameters<typeof workplaceHere>[0]): Promise<Workplace> {
  const place = await workplaceHere(t);
  await place.write('net.onnx', PICTURES);
  await place.write('right.yml', manifestOf('right', RIGHT));
  await place.write('mean.yml', manifestOf('mean', WRONG_MEAN));
  await place.write('both.yml', manifestOf('both', WRONG_MEAN.replace('58', '60')));
  return place;
}

describe('agree', { ...deadline, concurrency: 1 }, () => {
  it('finds no difference between a side and itself', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(['Relu', 'Sigmoid', 'Tanh']));
    const { verdict, aspects, outputs } = await agreement(place, ['default', 'default', '--', 'net.onnx']);
    assert.deepEqual([verdict, aspects], ['same', []]);
    const [output] = outputs;
    assert.deepEqual(
      [output?.output, output?.elements, output?.largest_difference, output?.relative_difference, output?.cosine],
      ['y', 8, 0, 0, 1],
    );
    assert.deepEqual([output?.top_1, output?.top_5, output?.parts_at], [1, 1, null]);
  });

  it('lists what differs between two sides', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(['Relu', 'Sigmoid', 'Tanh']));
    const sides = ['optimization_level=disabled', 'default'];
    const { aspects, outputs } = await agreement(place, [...sides, '--', 'net.onnx']);
    assert.deepEqual(
      aspects.map(({ aspect }) => aspect),
      ['optimization_level'],
    );
    assert.ok(['same', 'within tolerance'].includes(outputs[0]?.verdict ?? ''));
  });

  it('compares a quantized value as other layers see it', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', graphOf({ x: 'v1 Neg', v1: 'v2 Relu', v2: 'y Tanh' }));
    // As quantizers write it: a quantized type without negative numbers takes the place of the Relu.
    const quantized = {
      x: 'v2 Neg',
      'v2 scale zero': 'q QuantizeLinear',
      'q scale zero': 'd DequantizeLinear',
      d: 'y Tanh',
    };
    await place.write('net-int8.onnx', graphOf(quantized));
    const fine = await agreement(place, ['net.onnx', 'net-int8.onnx']);
    assert.deepEqual([fine.verdict, fine.outputs[0]?.tolerance], ['within tolerance', 0.04]);
    assert.match((await place.run(['agree', 'net.onnx', 'net-int8.onnx'])).stdout, /difference of 0\.04 \(quantized\)/);
    await place.write('net-int8.onnx', graphOf(quantized, 0.2));
    const { verdict, aspects, outputs } = await agreement(place, ['net.onnx', 'net-int8.onnx']);
    assert.deepEqual([verdict, aspects.map(({ aspect }) => aspect)], ['different', ['graph']]);
    const [output] = outputs;
    assert.deepEqual([output?.parts_at, output?.parts_operator], ['v2', 'Relu']);
    // Half a step of 0.2, of values up to 1; before the step, v2 has values down to -1.
    const by = output?.parts_by ?? NaN;
    assert.ok(by > 0.04 && by < 0.2, String(by));
  });

  it('names a wrong mean, and what it changes in the input', async (t) => {
    const place = await placeWithPictureModels(t);
    const { verdict, aspects, outputs } = await agreement(place, ['right.yml', 'mean.yml']);
    assert.equal(verdict, 'different');
    assert.deepEqual(
      aspects.map(({ aspect }) => aspect),
      ['normalize.mean'],
    );
    // Red is 124 on one side and 0.485 on the other, and both are divided by 58.
    assert.ok(Math.abs((aspects[0]?.input_difference ?? 0) - (124 - 0.485) / 58) < 1e-5);
    assert.deepEqual([outputs[0]?.parts_at, outputs[0]?.parts_operator], ['v1', 'Relu']);
    const { stdout } = await place.run(['agree', 'right.yml', 'mean.yml']);
    assert.match(stdout, /put down to it: normalize\.mean \(\[124,117,104\], then \[0\.485,0\.456,0\.406\]/);
    assert.equal((await agreement(place, ['right.yml', 'right.yml'])).verdict, 'same');
  });

  it('lists several steps as confounded, each with its own part', async (t) => {
    const place = await placeWithPictureModels(t);
    await place.write(
      'grey.png',
      await sharp({ create: { width: 9, height: 9, channels: 3, background: '#808080' } })
        .png()
        .toBuffer(),
    );
    const { aspects, outputs } = await agreement(place, ['right.yml', 'both.yml', '--', 'grey.png']);
    const parts = new Map(aspects.map(({ aspect, input_difference: part }) => [aspect, part ?? 0]));
    assert.deepEqual([...parts.keys()], ['normalize.mean', 'normalize.scale']);
    // A grey of 128 on green's mean of 117 and blue's of 104.
    assert.ok(Math.abs((parts.get('normalize.scale') ?? 0) - (24 / 58 - 24 / 60)) < 1e-5);
    assert.equal(outputs[0]?.input, 'grey.png');
  });

  it('finds the first layer where two graphs part', async (t) => {
    const place = await workplaceHere(t);
    await place.write('one.onnx', chain(['Relu', 'Sigmoid', 'Tanh']));
    await place.write('other.onnx', chain(['Relu', 'Softsign', 'Tanh']));
    const { aspects, outputs } = await agreement(place, ['one.onnx', 'other.onnx']);
    assert.deepEqual(
      aspects.map(({ aspect }) => aspect),
      ['graph'],
    );
    assert.deepEqual([outputs[0]?.parts_at, outputs[0]?.parts_operator], ['v2', 'Sigmoid']);
  });

  it('takes a dimension that only one of two models leaves open', async (t) => {
    const place = await workplaceHere(t);
    await place.write('open.onnx', chain(['Relu'], ['batch', 'sequence']));
    await place.write('bound.onnx', chain(['Relu'], ['batch', 8]));
    const { verdict } = await agreement(place, ['bound.onnx', 'open.onnx', '--dimension', 'sequence=8']);
    assert.equal(verdict, 'same');
  });

  it('ends with 3 where an output is not compared', async (t) => {
    const place = await workplaceHere(t);
    await place.write('odd.onnx', chain(['Relu', 'NoSuchOperator']));
    const { stdout, code } = await place.run(['agree', 'optimization_level=basic', 'default', '--', 'odd.onnx']);
    assert.match(stdout, /not compared: .*NoSuchOperator/);
    assert.match(stdout, /^different: optimization_level/m);
    assert.equal(code, 3);
  });

  it('refuses what it cannot compare', async (t) => {
    const place = await placeWithPictureModels(t);
    await place.write('other.onnx', chain(['Relu'], ['batch', 8]));
    for (const [args, message] of [
      [
        ['net.onnx', 'other.onnx'],
        /^net\.onnx takes float\[1, 3, 8, 8\], and other\.onnx float\[1, 8\], which are not the same inputs; name /m,
      ],
      [['default', 'right.yml'], /default is a side and the other one is a model; name two sides or two models/],
      [['default', 'threads=1'], /two sides need models: name them after --, as in -- zoo:resnet18/],
      [['net.onnx', 'net.onnx', 'a.jpg'], /a\.jpg: neither model has a manifest with steps for pictures/],
      [['right.yml', 'mean.yml', 'gone.jpg'], /gone\.jpg: expected a picture, found no such file/],
      [['right.yml', 'mean.yml', 'right.yml'], /expected a JPEG, PNG, WebP or GIF/],
      [['threads=1000', 'default', '--', 'net.onnx'], /threads: 1000 threads on \d+ cores?/],
    ] as const) {
      const { code, stderr } = await place.run(['agree', ...args]);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
    }
  });
});
