import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fromWireFeature, toWireFeature } from '../../../src/agent/wire/feature-wire.js';
import { Feature } from '../../../src/generated/mlmodelscope/org/dlframework/features.js';
import type { PredictedFeature } from '../../../src/processing/feature.js';
import { sent } from '../support/sent.js';

// The contract has 32-bit floats.
const box = { index: 7, label: 'cat', probability: 0.5, xmin: 0.125, xmax: 0.25, ymin: 0.375, ymax: 0.75 };
const segments = {
  kind: 'semantic_segment',
  height: 1,
  width: 4,
  mask: Int32Array.of(3, 3, 3, -1),
  shares: [{ index: 3, label: 'road', share: 0.75 }],
} as const;

const features: readonly PredictedFeature[] = [
  { kind: 'classification', index: 7, label: 'cat', probability: 0.5 },
  { kind: 'bounding_box', ...box },
  { kind: 'instance_segment', ...box, height: 1, width: 2, mask: Uint8Array.of(1, 0) },
  segments,
  { kind: 'raw', output: 'y', elementType: 'int16', dims: [2, 1], bytes: Uint8Array.of(1, 2, 3, 4) },
];

describe('a feature', () => {
  for (const feature of features) {
    test(`arrives as it was sent: ${feature.kind}`, () => {
      assert.deepEqual(fromWireFeature(sent(Feature, toWireFeature(feature))), feature);
    });
  }

  test('of all pixels has no probability', () => {
    assert.equal(toWireFeature(segments).probability, 0);
  });

  test('of an object says that its mask has integers', () => {
    const { feature } = toWireFeature({
      ...box,
      kind: 'instance_segment',
      height: 1,
      width: 1,
      mask: Uint8Array.of(1),
    });
    assert.equal(feature?.$case === 'instanceSegment' && feature.value.maskType, 'int');
  });

  test('of another implementation may have no shares of classes', () => {
    const arrived = fromWireFeature({ ...toWireFeature(segments), metadata: {} });
    assert.deepEqual(arrived, { ...segments, shares: [{ index: 3, label: '', share: 0.75 }] });
  });

  test('with shares that are no numbers, negative dimensions, of another kind, or of none is refused', () => {
    const wrong = { class_shares: '[{"index":3,"label":"road","share":"most"}]' };
    assert.throws(() => fromWireFeature({ ...toWireFeature(segments), metadata: wrong }), /share/);
    const raw = toWireFeature({ kind: 'raw', output: 'y', elementType: 'float32', dims: [1], bytes: Buffer.alloc(4) });
    assert.throws(() => fromWireFeature({ ...raw, metadata: { dimensions: '[-1]' } }), /too_small/);
    const strange = { ...Feature.create(), feature: { $case: 'text', value: { data: '' } } } as unknown as Feature;
    assert.throws(() => fromWireFeature(strange), /a feature of the kind text/);
    assert.throws(() => fromWireFeature(Feature.create()), /a feature of the kind unknown/);
  });
});
