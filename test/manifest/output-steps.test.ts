import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type OutputSteps, outputStepsField } from '../../src/manifest/output-steps.js';

const ORDER =
  'top_k, after row and softmax where there are any; boxes, then non_max_suppression, instance_masks and top_k where there are any; or segments';

function stepsOf(steps: readonly object[]): OutputSteps {
  return outputStepsField.parse(steps);
}

/** The problems of steps: `PLACE: MESSAGE`, with the steps' indices and keys as place. */
function problemsOf(steps: readonly object[]): readonly string[] {
  const issues = outputStepsField.safeParse(steps).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const boxes = (more: object = {}): object => ({ boxes: { format: 'yxyx', scores: 's', ...more } });

describe('steps to classes', () => {
  test('take the row, the softmax and the number of classes where these are there', () => {
    assert.deepEqual(stepsOf([{ top_k: {} }]), { kind: 'classes', softmax: false });
    assert.deepEqual(stepsOf([{ row: -1 }, { softmax: {} }, { top_k: { k: 3, labels: 'labels.txt' } }]), {
      kind: 'classes',
      row: -1,
      softmax: true,
      k: 3,
      labels: 'labels.txt',
    });
    assert.deepEqual(stepsOf([{ row: 0 }, { top_k: { k: 1 } }]), { kind: 'classes', row: 0, softmax: false, k: 1 });
  });

  test('are bounded', () => {
    for (const row of [-100_000, 100_000]) assert.deepEqual(problemsOf([{ row }, { top_k: {} }]), []);
    for (const row of [-100_001, 100_001, 0.5]) {
      assert.deepEqual(problemsOf([{ row }, { top_k: {} }]), ['0.row: a whole number from -100000 to 100000']);
    }
    for (const k of [1, 100_000]) assert.deepEqual(problemsOf([{ top_k: { k } }]), []);
    for (const k of [0, 100_001]) {
      assert.deepEqual(problemsOf([{ top_k: { k } }]), ['0.top_k.k: a whole number from 1 to 100000']);
    }
  });
});

describe('steps to objects', () => {
  test('have the usual values where a manifest gives none', () => {
    assert.deepEqual(stepsOf([boxes(), { non_max_suppression: {} }, { instance_masks: { masks: 'm' } }]), {
      kind: 'boxes',
      format: 'yxyx',
      scores: 's',
      isInPixels: false,
      hasBackground: false,
      threshold: 0.5,
      suppression: { iou: 0.5, acrossClasses: false },
      masks: { masks: 'm', threshold: 0.5 },
    });
  });

  test('take what a manifest gives', () => {
    const given = { coordinates: 'pixels', count: 'n', threshold: 0, background: true, labels: 'labels.txt' };
    const steps = [boxes(given), { non_max_suppression: { iou: 1, across_classes: true } }, { top_k: { k: 7 } }];
    assert.deepEqual(stepsOf(steps), {
      kind: 'boxes',
      format: 'yxyx',
      scores: 's',
      count: 'n',
      labels: 'labels.txt',
      isInPixels: true,
      hasBackground: true,
      threshold: 0,
      suppression: { iou: 1, acrossClasses: true },
      k: 7,
    });
  });

  test('have coordinates that are relative or in pixels', () => {
    assert.deepEqual(stepsOf([boxes({ coordinates: 'relative' })]), stepsOf([boxes()]));
    assert.equal(problemsOf([boxes({ coordinates: 'absolute' })]).length, 1);
  });

  test('have shares from 0 to 1', () => {
    for (const share of [-0.01, 1.01]) {
      assert.deepEqual(problemsOf([boxes({ threshold: share })]), ['0.boxes.threshold: a number from 0 to 1']);
      const suppression = { non_max_suppression: { iou: share } };
      assert.deepEqual(problemsOf([boxes(), suppression]), ['1.non_max_suppression.iou: a number from 0 to 1']);
      const masks = { instance_masks: { masks: 'm', threshold: share } };
      assert.deepEqual(problemsOf([boxes(), masks]), ['1.instance_masks.threshold: a number from 0 to 1']);
    }
    for (const share of [0, 1]) assert.deepEqual(problemsOf([boxes({ threshold: share })]), []);
  });

  test('have labels at one place', () => {
    assert.deepEqual(problemsOf([boxes(), { top_k: { labels: 'l' } }]), [
      '1.top_k.labels: no labels, because labels belong to boxes',
    ]);
    assert.deepEqual(problemsOf([boxes({ labels: 'l' }), { top_k: { k: 1 } }]), []);
  });

  test('have a background only where each class has a score', () => {
    const message =
      '0.boxes.background: false where classes names an output, because that output has no background class';
    assert.deepEqual(problemsOf([boxes({ background: true, classes: 'c' })]), [message]);
    assert.deepEqual(problemsOf([boxes({ background: true })]), []);
    assert.deepEqual(problemsOf([boxes({ background: false, classes: 'c' })]), []);
  });
});

test('steps to segments take the layout and the labels', () => {
  assert.deepEqual(stepsOf([{ segments: { layout: 'map', labels: 'labels.txt' } }]), {
    kind: 'segments',
    layout: 'map',
    labels: 'labels.txt',
  });
  assert.deepEqual(problemsOf([{ segments: { layout: 'WHC' } }]).length, 1);
});

describe('the order of steps', () => {
  const suppression = { non_max_suppression: {} };
  const masks = { instance_masks: { masks: 'm' } };
  const topK = { top_k: {} };
  const segments = { segments: { layout: 'CHW' } };

  test('is one of three, in which some steps are optional', () => {
    for (const steps of [[topK], [boxes()], [boxes(), masks], [boxes(), suppression, masks, topK], [segments]]) {
      assert.deepEqual(problemsOf(steps), [], JSON.stringify(steps));
    }
    const wrong = [
      [{ row: 1 }],
      [topK, { softmax: {} }],
      [topK, topK],
      [boxes(), topK, suppression],
      [boxes(), boxes()],
      [suppression],
      [segments, topK],
      [topK, boxes()],
    ];
    for (const steps of wrong) assert.deepEqual(problemsOf(steps), [`: ${ORDER}`], JSON.stringify(steps));
  });

  test('has at least one step and at most four', () => {
    assert.match(problemsOf([]).join(), />=1 items/);
    const five = [boxes(), suppression, masks, topK, topK];
    assert.match(problemsOf(five).join(), /<=4 items/);
  });
});

test('labels are read from a file beside the manifest, and from nowhere else', () => {
  const expected = 'the path of a text file with a line for each class (nothing is downloaded)';
  for (const labels of ['http://example.org/labels', 'https://example.org/labels', 'a\nb']) {
    assert.deepEqual(problemsOf([{ top_k: { labels } }]), [`0.top_k.labels: ${expected}`]);
    assert.deepEqual(problemsOf([{ segments: { layout: 'map', labels } }]), [`0.segments.labels: ${expected}`]);
    assert.deepEqual(problemsOf([boxes({ labels })]), [`0.boxes.labels: ${expected}`]);
  }
});
