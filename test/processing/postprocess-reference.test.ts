import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { BoxFormat, SegmentSteps } from '../../src/manifest/output-steps.js';
import type { TensorValue } from '../../src/predictor/tensor-value.js';
import { readBoxes, type Detector } from '../../src/processing/boxes.js';
import { readClasses } from '../../src/processing/postprocess.js';
import { readSegments } from '../../src/processing/segments.js';

interface Plain {
  readonly dims: readonly number[];
  readonly values: readonly number[];
}

/** fixtures/make_postprocess_reference.py makes these numbers. */
interface Reference {
  readonly boxes: readonly {
    readonly name: string;
    readonly format: BoxFormat;
    readonly size: readonly [number, number] | null;
    readonly threshold: number;
    readonly iou: number | null;
    readonly acrossClasses: boolean;
    readonly k: number | null;
    readonly boxes: Plain;
    readonly scores: Plain;
    readonly classes: Plain | null;
    readonly masks?: Plain;
    readonly expected: readonly {
      readonly index: number;
      readonly probability: number;
      /** xmin, ymin, xmax, ymax, from 0 to 1. */
      readonly corners: readonly number[];
      readonly mask?: readonly number[];
    }[];
  }[];
  readonly segments: readonly {
    readonly name: string;
    readonly layout: SegmentSteps['layout'];
    readonly output: Plain;
    readonly height: number;
    readonly width: number;
    readonly mask: readonly number[];
    readonly shares: readonly (readonly [number, number])[];
  }[];
  readonly row: { readonly logits: Plain; readonly row: number; readonly top: readonly (readonly [number, number])[] };
}

const FIXTURES = join(import.meta.dirname, '../../../test/processing/fixtures');
const written = readFileSync(join(FIXTURES, 'postprocess-reference.json'), 'utf8');
const reference = JSON.parse(written) as Reference;

const ALONE = { row: 0, rows: 1, limit: 0 } as const;

/** Coordinates are float32 fractions of one; scaling rounds them again. */
const CLOSE = 1e-6;

function floats({ dims, values }: Plain): TensorValue {
  return { elementType: 'float32', dims, bytes: new Uint8Array(new Float32Array(values).buffer) };
}

function assertClose(found: readonly number[], expected: readonly number[], what: string): void {
  assert.equal(found.length, expected.length, what);
  for (const [i, value] of found.entries()) {
    assert.ok(Math.abs(value - (expected[i] ?? NaN)) < CLOSE, `${what}: ${value} for ${expected[i]}`);
  }
}

function assertBoxes({
  name,
  size,
  iou,
  acrossClasses,
  k,
  masks,
  expected,
  ...given
}: Reference['boxes'][number]): void {
  const outputs = new Map([
    ['boxes', floats(given.boxes)],
    ['scores', floats(given.scores)],
    ...(given.classes === null ? [] : [['classes', floats(given.classes)] as const]),
    ...(masks === undefined ? [] : [['masks', floats(masks)] as const]),
  ]);
  const [width, height] = size ?? [1, 1];
  const detector: Detector = {
    kind: 'boxes',
    format: given.format,
    unit: { x: 1 / width, y: 1 / height },
    scores: 'scores',
    ...(given.classes !== null && { classes: 'classes' }),
    threshold: given.threshold,
    hasBackground: given.classes === null,
    ...(iou !== null && { suppression: { iou, acrossClasses } }),
    ...(masks !== undefined && { masks: { masks: 'masks', threshold: 0.5 } }),
    ...(k !== null && { k }),
  };
  const found = readBoxes(outputs, 'boxes', detector, ALONE).map((feature) => {
    assert.ok(feature.kind === 'bounding_box' || feature.kind === 'instance_segment');
    return feature;
  });
  assert.deepEqual(
    found.map(({ index, probability }) => [index, probability]),
    expected.map(({ index, probability }) => [index, probability]),
  );
  assert.ok(expected.length > 0);
  for (const [i, feature] of found.entries()) {
    const { xmin, ymin, xmax, ymax } = feature;
    assertClose([xmin, ymin, xmax, ymax], expected[i]?.corners ?? [], `${name}, box ${i}`);
    const mask = feature.kind === 'instance_segment' ? [...feature.mask] : undefined;
    assert.deepEqual(mask, expected[i]?.mask);
  }
}

function assertReference({ boxes, segments, row }: Reference): void {
  for (const one of boxes) assertBoxes(one);
  for (const { name, layout, output, height, width, mask, shares } of segments) {
    const found = readSegments(name, floats(output), { kind: 'segments', layout }, ALONE);
    assert.ok(found.kind === 'semantic_segment');
    assert.deepEqual([found.height, found.width, [...found.mask]], [height, width, mask], name);
    assert.deepEqual(
      found.shares.map(({ index, share }) => [index, share]),
      shares,
      name,
    );
  }
  const classes = readClasses(
    floats(row.logits),
    { kind: 'classes', row: row.row, softmax: true },
    { ...ALONE, limit: 5 },
  );
  const found = classes.map((feature) => {
    assert.ok(feature.kind === 'classification');
    return [feature.index, feature.probability] as const;
  });
  assert.deepEqual(
    found.map(([index]) => index),
    row.top.map(([index]) => index),
  );
  assertClose(
    found.map(([, probability]) => probability),
    row.top.map(([, probability]) => probability),
    'softmax of the last row',
  );
}

describe('boxes, segments and rows', () => {
  for (const one of reference.boxes) {
    test(`boxes ${one.name} are those that torchvision keeps`, () => assertBoxes(one));
  }

  test('match the stored results of torchvision and NumPy', () => assertReference(reference));

  /** A Python with torchvision; `make_postprocess_reference.py` says which versions. */
  const python = process.env['REFERENCE_PYTHON'] ?? 'python3';
  const { status } = spawnSync(python, ['-c', 'import numpy, torch, torchvision'], { stdio: 'ignore' });
  const skip = status === 0 ? false : `${python} has no NumPy, torch and torchvision (REFERENCE_PYTHON names another)`;

  test('match new results of torchvision and NumPy', { skip, timeout: 120_000 }, () => {
    const made = spawnSync(python, [join(FIXTURES, 'make_postprocess_reference.py')], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    assertReference(JSON.parse(made.stdout) as Reference);
  });
});
