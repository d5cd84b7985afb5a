import { tableOfNames } from '../../../base/table-of-names.js';
import { REDUCTIONS } from '../../operators/steering-inputs.js';
import {
  type FittingRule,
  type FittingRules,
  list,
  type OperatorUse,
  repeated,
  upTo,
  integerAttribute,
  integersAttribute,
} from './operator-use.js';

// Values that produce the known shape of the output, or else keep the input's as far as possible. Source: Operators.md.

const ANY_SIZE = 16;

/** Dimensions of the first output where it has as many as this input has elements. */
function sizesOfOutput({ count, output }: OperatorUse): readonly number[] | undefined {
  const dims = output(0);
  return dims?.length === count ? dims : undefined;
}

function reshapeTarget(use: OperatorUse): readonly number[] {
  const known = sizesOfOutput(use);
  const same = use.input(0);
  if (known !== undefined) return known;
  return same?.length === use.count ? same : [-1, ...repeated(use.count - 1, 1)].slice(0, use.count);
}

function expandTarget(use: OperatorUse): readonly number[] {
  const dims = use.input(0) ?? [];
  const widened = [...repeated(Math.max(0, use.count - dims.length), 1), ...dims];
  return sizesOfOutput(use) ?? widened.slice(-use.count);
}

/** Sizes of the input and of the output, for the axes that a Resize changes. */
function resized(use: OperatorUse): readonly { readonly before: number; readonly after: number }[] {
  const dims = use.input(0) ?? repeated(use.count, 1);
  const axes = integersAttribute(use.node, 'axes') ?? upTo(dims.length);
  const output = use.output(0);
  return axes.map((axis) => {
    const at = axis < 0 ? axis + dims.length : axis;
    const before = dims[at] ?? 1;
    return { before, after: output?.[at] ?? (at < 2 ? before : before * 2) };
  });
}

const resizeSizes: FittingRule = (use) => list(resized(use).map(({ after }) => after));
const resizeScales: FittingRule = (use) => list(resized(use).map(({ before, after }) => after / Math.max(1, before)));

/** Up to version 10, the scales; later, the part of the input that is resized, here all of it. */
const scalesOrPart: FittingRule = (use) => {
  if (use.count === use.input(0)?.length) return resizeScales(use);
  return list([...repeated(use.count / 2, 0), ...repeated(use.count / 2, 1)]);
};

const repeats: FittingRule = (use) => {
  const dims = use.input(0);
  const output = sizesOfOutput(use);
  return list(repeated(use.count, 1).map((once, axis) => Math.max(1, (output?.[axis] ?? 1) / (dims?.[axis] ?? once))));
};

/** All padding is at the end of the axes. */
const padding: FittingRule = (use) => {
  const rank = use.count / 2;
  const dims = use.input(0);
  const output = use.output(0);
  const isWhole = dims?.length === rank && output?.length === rank;
  return list(
    repeated(use.count, 0).map((none, at) => {
      return isWhole && at >= rank ? (output[at - rank] ?? 0) - (dims[at - rank] ?? 0) : none;
    }),
  );
};

/** The ends of a Slice that starts at 0 and has the sizes of its output. */
const sliceEnds: FittingRule = (use) => {
  const dims = use.output(0) ?? use.input(0);
  const axes = use.constant(3) ?? upTo(use.count);
  return list(axes.map((axis) => dims?.at(axis) ?? ANY_SIZE));
};

/** The size of one of `parts` equal parts; the last part also has the remainder. */
function partSize(size: number | undefined, parts: number, at: number): number {
  const all = size ?? parts;
  const each = Math.floor(all / parts);
  return at === parts - 1 ? all - each * (parts - 1) : each;
}

const splitSizes: FittingRule = (use) => {
  const axis = integerAttribute(use.node, 'axis', 0);
  const size = use.input(0)?.at(axis);
  return list(upTo(use.count).map((at) => use.output(at)?.at(axis) ?? partSize(size, use.count, at)));
};

/** A size for each part; a single number is the size of all of them. */
const sequenceSizes: FittingRule = (use) => {
  if (use.own.length === 0) return list([1]);
  return list(
    upTo(use.count).map((at) => partSize(use.input(0)?.at(integerAttribute(use.node, 'axis', 0)), use.count, at)),
  );
};

const squeezed: FittingRule = ({ input, count }) => {
  return list((input(0) ?? []).flatMap((size, axis) => (size === 1 ? [axis] : [])).slice(0, count));
};

/** The axes that the output has in addition. */
const unsqueezed: FittingRule = ({ input, output, count }) => {
  const before = input(0);
  const after = output(0);
  if (before === undefined || after === undefined) return list(upTo(count));
  let at = 0;
  return list(
    after.flatMap((size, axis) => (at < before.length && before[at] === size ? (at++, []) : [axis])).slice(0, count),
  );
};

/** The axes whose size changes, and as many of the last axes as are needed besides. */
const reduced: FittingRule = ({ input, output, count }) => {
  const before = input(0) ?? [];
  const after = output(0);
  const shrunk = before.flatMap((size, axis) =>
    after?.length === before.length && after[axis] !== size ? [axis] : [],
  );
  const last = upTo(before.length)
    .toReversed()
    .filter((axis) => !shrunk.includes(axis));
  return list([...shrunk, ...last].slice(0, count).sort((a, b) => a - b));
};

const oneHotDepth: FittingRule = ({ node, output }) =>
  list([output(0)?.at(integerAttribute(node, 'axis', -1)) ?? ANY_SIZE]);

const rangeLimit: FittingRule = ({ output, constant }) => {
  const start = constant(0)?.[0] ?? 0;
  const step = constant(2)?.[0] ?? 1;
  return list([start + step * (output(0)?.[0] ?? ANY_SIZE)]);
};

const topCount: FittingRule = ({ node, input, output }) => {
  const axis = integerAttribute(node, 'axis', -1);
  return list([output(0)?.at(axis) ?? Math.min(ANY_SIZE, input(0)?.at(axis) ?? 1)]);
};

const asOutput: FittingRule = (use) => list(sizesOfOutput(use) ?? repeated(use.count, 1));
const asLength: FittingRule = ({ output }) => list([output(0)?.[0] ?? ANY_SIZE]);
const zero: FittingRule = () => list([0]);
const one: FittingRule = () => list([1]);
const axesInOrder: FittingRule = ({ count }) => list(upTo(count));

/** Sizes of the grid, for one channel. */
const gridSize: FittingRule = ({ output, input, count }) => {
  const spatial = output(0)?.slice(1, -1) ?? repeated(count - 2, ANY_SIZE);
  return list([input(0)?.[0] ?? 1, 1, ...spatial]);
};

export const SHAPE_RULES = tableOfNames<FittingRules>({
  [REDUCTIONS]: { 1: reduced },
  'BlackmanWindow HammingWindow HannWindow': { 0: asLength },
  AffineGrid: { 1: gridSize },
  CenterCropPad: { 1: (use) => list(sizesOfOutput(use) ?? use.input(0)?.slice(0, use.count)) },
  ConstantOfShape: { 0: asOutput },
  'CumProd CumSum Trilu': { 1: zero },
  Dropout: { 1: zero, 2: zero },
  Expand: { 1: (use) => list(expandTarget(use)) },
  OneHot: { 1: oneHotDepth, 2: () => list([0, 1]) },
  Pad: { 1: padding, 3: axesInOrder },
  Range: { 0: zero, 1: rangeLimit, 2: one },
  Reshape: { 1: (use) => list(reshapeTarget(use)) },
  Resize: { 1: scalesOrPart, 2: resizeScales, 3: resizeSizes },
  Slice: { 1: zero, 2: sliceEnds, 3: axesInOrder, 4: one },
  Split: { 1: splitSizes },
  SplitToSequence: { 1: sequenceSizes },
  Squeeze: { 1: squeezed },
  Tile: { 1: repeats },
  TopK: { 1: topCount },
  Unsqueeze: { 1: unsqueezed },
  Upsample: { 1: scalesOrPart },
});
