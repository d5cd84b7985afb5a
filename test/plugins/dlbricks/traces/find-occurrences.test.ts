import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OccurrenceIndex } from '../../../../plugins/dlbricks/traces/find-occurrences.js';
import { layersKey } from '../../../../plugins/dlbricks/traces/match-level.js';
import type { LayerFacts } from '../../../../plugins/dlbricks/work/layer-facts.js';
import type { Occurrence, Target } from '../../../../plugins/dlbricks/traces/trace-book.js';

const CONV: LayerFacts = {
  operator: 'Conv',
  signature: 'abc',
  attributes: { strides: [2, 2], group: 1 },
  inputs: [
    { elementType: 'float32', dims: [1, 3, 8, 8] },
    { elementType: 'float32', dims: [4, 3, 3, 3] },
  ],
  outputs: [{ elementType: 'float32', dims: [1, 4, 4, 4] }],
  activations: [0],
};
const TARGET: Target = {
  name: 'asked',
  graph: 'trace',
  layers: 1,
  sequences: [],
  edges: undefined,
  wholeMs: undefined,
};

/** The level at which the layer `asked` at a position is found if the layer `measured` was measured. */
function levelOf(measured: LayerFacts, asked: LayerFacts = CONV, position = '5'): string | undefined {
  const occurrence: Occurrence = {
    position: '0',
    name: measured.name ?? '',
    layers: [measured],
    identity: layersKey([measured]),
    model: 'm',
    process: 'p',
    ms: 1,
    order: 0,
  };
  const sequence = { position, name: '', layers: [asked], identity: layersKey([asked]) };
  return new OccurrenceIndex([occurrence]).find(TARGET, sequence, 'all')?.level;
}

function without(...keys: readonly (keyof LayerFacts)[]): LayerFacts {
  return Object.fromEntries(
    Object.entries(CONV).filter(([key]) => !keys.includes(key as keyof LayerFacts)),
  ) as unknown as LayerFacts;
}

describe('a layer is found at the strongest level that its trace supports', () => {
  const cases: readonly (readonly [string, LayerFacts, string | undefined])[] = [
    ['the same signature', { operator: 'whatever', signature: 'abc' }, 'signature'],
    [
      'attributes in another order',
      { ...without('signature'), attributes: { group: 1, strides: [2, 2] } },
      'attributes',
    ],
    ['other attributes', { ...without('signature'), attributes: { strides: [1, 1], group: 1 } }, 'shapes'],
    ['no attributes', without('signature', 'attributes'), 'shapes'],
    ['only outputs', without('signature', 'attributes', 'inputs'), 'shapes'],
    [
      'weights left out of the inputs',
      { ...without('signature', 'attributes'), inputs: CONV.inputs?.slice(0, 1) },
      'shapes',
    ],
    [
      'no element types',
      {
        ...without('signature', 'attributes'),
        inputs: CONV.inputs?.map(({ dims }) => ({ dims })),
        outputs: [{ dims: [1, 4, 4, 4] }],
      },
      'shapes',
    ],
    [
      'another element type',
      { ...without('signature'), outputs: [{ elementType: 'float16', dims: [1, 4, 4, 4] }] },
      undefined,
    ],
    [
      'another shape',
      { ...without('signature'), outputs: [{ elementType: 'float32', dims: [1, 4, 4, 5] }] },
      undefined,
    ],
    ['another operator', { ...without('signature'), operator: 'ConvInteger' }, undefined],
    ['an operator and nothing else', { operator: 'Conv' }, undefined],
  ];
  for (const [what, measured, level] of cases) {
    test(what, () => assert.equal(levelOf(measured), level));
  }
});

/** As ONNX Runtime 1.30 profiles it: the weights that it prepacks are missing, a bias stays. */
describe('a layer whose profile lacks prepacked weights', () => {
  const float = (...dims: number[]) => ({ elementType: 'float32', dims });
  const gemm: LayerFacts = {
    operator: 'Gemm',
    name: 'fc',
    signature: 'gemm',
    attributes: { transB: 1 },
    inputs: [float(1, 2048), float(1000, 2048), float(1000)],
    outputs: [float(1, 1000)],
    activations: [0],
  };
  const deconvolution: LayerFacts = {
    operator: 'ConvTranspose',
    name: 'up',
    inputs: [float(1, 8, 4, 4), float(8, 8, 2, 2), float(8)],
    outputs: [float(1, 8, 8, 8)],
    activations: [0],
  };
  const find = (asked: LayerFacts, measured: LayerFacts) => levelOf(measured, asked, '0');

  test('is found by the inputs that it kept', () => {
    const { operator, outputs } = gemm;
    assert.equal(find(gemm, { operator, outputs, inputs: [float(1, 2048), float(1000)] }), 'partial');
  });

  test('is another layer if the inputs that it kept differ', () => {
    const { operator, outputs } = gemm;
    assert.equal(find(gemm, { operator, outputs, inputs: [float(1, 2048), float(1)] }), undefined);
    assert.equal(find(gemm, { operator, outputs, inputs: [float(1, 512), float(1000)] }), undefined);
    assert.equal(find(gemm, { operator, outputs, inputs: [float(1000, 2048), float(1000)] }), undefined);
  });

  test('that is a convolution is found by its name only: no other shape shows the size of its kernel', () => {
    const { operator, outputs } = deconvolution;
    const kept = { operator, outputs, inputs: [float(1, 8, 4, 4), float(8)] };
    assert.equal(find(deconvolution, { ...kept, name: 'up' }), 'partial');
    assert.equal(find(deconvolution, { ...kept, name: 'up_2' }), undefined);
  });

  test('is distinguished by the type of its first output if it has no other types', () => {
    const { operator } = gemm;
    const inputs = [{ dims: [1, 2048] }, { dims: [1000] }];
    assert.equal(find(gemm, { operator, inputs, outputs: [float(1, 1000)] }), 'partial');
    const half = [{ elementType: 'float16', dims: [1, 1000] }];
    assert.equal(find(gemm, { operator, inputs, outputs: half }), undefined);
  });
});
