import {
  floats,
  graph,
  graphAttribute,
  int,
  integers,
  model,
  node,
  tensorAttribute,
  value,
} from '../../../onnx/protos.js';

/** Numbers from 0 to 1 that look random; the same seed gives the same. */
function* uniform(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

function weights(count: number, scale: number, seed: number): number[] {
  const numbers = uniform(seed);
  return Array.from({ length: count }, () => (numbers.next().value - 0.5) * 2 * scale);
}

/** Corners of boxes of size 1 in a square, beside each other, so that none hides another. */
function anchors(boxes: number): number[] {
  const side = Math.ceil(Math.sqrt(boxes));
  return Array.from({ length: boxes }, (_, at) => [Math.floor(at / side), at % side]).flatMap(([y = 0, x = 0]) => [
    y,
    x,
    y + 1,
    x + 1,
  ]);
}

export interface DetectorTail {
  readonly boxes: number;
  readonly seed?: number;
  /** Whether the suppression is in a branch, as torchvision writes it. */
  readonly inBranch?: boolean;
}

const FEATURES = 32;

/**
 * The end of a detector, as an ONNX file with its weights: boxes around anchors and their scores by a linear layer,
 * then a non-maximum suppression, then the chosen boxes. With its own weights all boxes are chosen, and each is compared
 * with all chosen before.
 */
export function detectorTail({ boxes, seed = 1, inBranch = false }: DetectorTail): Uint8Array {
  const suppression = [
    node('Unsqueeze', ['boxes', 'zero'], ['boxes_of_one']),
    node('NonMaxSuppression', ['boxes_of_one', 'scores', 'most', 'overlap', 'least'], ['chosen']),
  ];
  const branch = graph({ node: suppression, output: [value('chosen', undefined, 'int64')] });
  const none = graph({
    node: [node('ConstantOfShape', ['no_boxes'], ['none'], [tensorAttribute('value', integers('', [0n]))])],
    output: [value('none', undefined, 'int64')],
  });
  const branches = [graphAttribute('then_branch', none), graphAttribute('else_branch', branch)];
  const chosen = inBranch
    ? [
        node('Size', ['boxes'], ['count']),
        node('ReduceMax', ['scores'], ['best'], [int('keepdims', 0)]),
        node('Less', ['best', 'nothing'], ['is_empty']),
        node('If', ['is_empty'], ['chosen'], branches),
      ]
    : suppression;
  return model({
    input: [value('features', [boxes, FEATURES])],
    node: [
      node('MatMul', ['features', 'box_weight'], ['raw']),
      node('Tanh', ['raw'], ['moves']),
      node('Mul', ['moves', 'reach'], ['near']),
      node('Add', ['near', 'anchors'], ['boxes']),
      node('Gemm', ['features', 'score_weight', 'score_bias'], ['raw_scores']),
      node('Sigmoid', ['raw_scores'], ['each_score']),
      node('Transpose', ['each_score'], ['row']),
      node('Unsqueeze', ['row', 'zero'], ['scores']),
      ...chosen,
      node('Gather', ['chosen', 'two'], ['at'], [int('axis', 1)]),
      node('Gather', ['boxes', 'at'], ['kept']),
      // It fails for no boxes, as in torchvision's detectors.
      node('Reshape', ['kept', 'flat'], ['rows']),
      node('Relu', ['rows'], ['detections']),
    ],
    initializer: [
      floats('box_weight', weights(FEATURES * 4, 0.1, seed), [FEATURES, 4]),
      floats('score_weight', weights(FEATURES, 0.1, seed + 1), [FEATURES, 1]),
      // A learned bias: with made-up weights, no score is so large.
      floats('score_bias', [9], [1]),
      floats('reach', [0.01 + seed / 1000], []),
      floats('anchors', anchors(boxes), [boxes, 4]),
      floats('overlap', [0.5]),
      floats('least', [0.995]),
      floats('nothing', [0], []),
      integers('most', [BigInt(boxes)]),
      integers('zero', [0n]),
      integers('two', [2n], []),
      integers('flat', [0n, -1n]),
      integers('no_boxes', [0n, 3n]),
    ],
    output: [value('detections', undefined)],
  });
}

const mixing = graph({
  input: [value('at', [], 'int64'), value('go', [], 'bool'), value('state', [4, 64])],
  node: [node('Identity', ['go'], ['on']), node('MatMul', ['state', 'mixing'], ['next'])],
  output: [value('on', [], 'bool'), value('next', [4, 64])],
});

/** A loop with twice as many steps as its input says. */
export function givenLoop(): Uint8Array {
  return model({
    input: [value('x', [4, 64]), value('n', [], 'int64')],
    node: [
      node('Mul', ['n', 'two'], ['trips']),
      node('Loop', ['trips', '', 'x'], ['y'], [graphAttribute('body', mixing)]),
    ],
    initializer: [integers('two', [2n], []), floats('mixing', weights(64 * 64, 0.1, 6), [64, 64])],
    output: [value('y', [4, 64])],
    valueInfo: [value('trips', [], 'int64')],
  });
}

/** A loop whose number of steps is computed with weights: three with its own. */
export function countingLoop(): Uint8Array {
  return model({
    input: [value('x', [4, 64])],
    node: [
      node('MatMul', ['x', 'small'], ['nearly_zero']),
      node('ReduceMax', ['nearly_zero'], ['largest'], [int('keepdims', 0)]),
      node('Add', ['largest', 'steps'], ['computed']),
      node('Cast', ['computed'], ['trips'], [int('to', 7)]),
      node('Loop', ['trips', '', 'x'], ['y'], [graphAttribute('body', mixing)]),
    ],
    initializer: [
      floats('small', weights(64, 1e-6, 5), [64, 1]),
      floats('mixing', weights(64 * 64, 0.1, 6), [64, 64]),
      floats('steps', [3.4], []),
    ],
    output: [value('y', [4, 64])],
  });
}
