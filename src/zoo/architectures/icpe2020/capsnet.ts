import { fixed, type Network, type Value } from '../../builder.js';
import { conv, linear } from '../../convolution.js';
import { weight } from '../../initialization.js';
import { channelsLast, expand, reshapeTo, total } from '../../shaping.js';
import {
  add,
  bestEntry,
  chain,
  div,
  flatten,
  type Layer,
  mul,
  plus,
  relu,
  reshape,
  sigmoid,
  softmax,
  sqrt,
  unsqueeze,
} from '../../tensor.js';

const DIGITS = 10;
const FEATURES = 16;
const PRIMARY_FEATURES = 8;

const squared: Layer = (x) => mul(x, x);

const squaredLength: Layer = (x) => total(x.dims.length - 1)(squared(x));

/** Shrinks each capsule to a length below 1 (the paper's equation 1). */
const squash: Layer = (capsules) => {
  const square = squaredLength(capsules);
  const factor = div(sqrt(square), plus(1)(square));
  const spread = expand(
    unsqueeze(factor, [capsules.dims.length - 1]),
    capsules.dims.map((_, axis) => (axis === capsules.dims.length - 1 ? fixed(capsules, axis) : 1)),
  );
  return mul(capsules, spread);
};

function digitCapsules(agreement: Value, predictions: Value): Value {
  const coupling = softmax(reshapeTo(fixed(predictions, 1), DIGITS)(agreement));
  const spread = expand(unsqueeze(coupling, [3]), [1, 1, 1, FEATURES]);
  return squash(total(1)(mul(spread, predictions)));
}

/** One iteration of dynamic routing (the paper's procedure 1). */
function route(agreement: Value, predictions: Value): Value {
  const digits = digitCapsules(agreement, predictions);
  const capsules = fixed(predictions, 1);
  const spread = expand(unsqueeze(digits, [1]), [1, capsules, 1, 1]);
  const products = total(3)(mul(spread, predictions));
  return add(flatten(products), agreement);
}

const predict: Layer = (primary) => {
  const capsules = fixed(primary, 1);
  const spread = expand(unsqueeze(primary, [2, 3]), [1, 1, DIGITS, FEATURES, 1]);
  const matrices = weight(primary.graph, [capsules, DIGITS, FEATURES, PRIMARY_FEATURES], PRIMARY_FEATURES);
  return total(4)(mul(spread, matrices));
};

function noAgreement(predictions: Value): Value {
  const capsules = fixed(predictions, 1);
  return reshape(total(3)(mul(predictions, predictions.graph.scalar('zero', 0))), [0, capsules * DIGITS]);
}

const reconstruct = chain(linear(512), relu, linear(1024), relu, linear(784), sigmoid, reshapeTo(1, 28, 28));

export function capsnet(width = 256): Network {
  return (graph) => {
    const image = graph.input('input', 'float32', ['batch', 1, 28, 28]);
    const features = chain(conv(width, 9), relu, conv(width, 9, { stride: 2 }), channelsLast)(image);
    const primary = squash(reshapeTo((36 * width) / PRIMARY_FEATURES, PRIMARY_FEATURES)(features));
    const predictions = predict(primary);
    const agreement = route(route(noAgreement(predictions), predictions), predictions);
    const digits = digitCapsules(agreement, predictions);
    const lengths = sqrt(squaredLength(digits));
    graph.output('lengths', lengths);
    graph.output('reconstruction', reconstruct(bestEntry(digits, lengths)));
  };
}
