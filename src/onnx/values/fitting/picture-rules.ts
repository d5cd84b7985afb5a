import { tableOfNames } from '../../../base/table-of-names.js';
import {
  type FittingRule,
  type FittingRules,
  indicesBelow,
  list,
  type OperatorUse,
  repeated,
  integerAttribute,
  integersAttribute,
} from './operator-use.js';

// Boxes in pictures, and pictures of blocks. Boxes are so large and so far apart that each box causes work: an empty
// box, and a box that another box hides, cause none. Source: Operators.md of the ONNX project.

const BOXES = 8;

/** Neighbours that touch: their corners, or their centers and sizes. */
const neighbours: FittingRule = ({ node }) => {
  const isCentered = integerAttribute(node, 'center_point_box', 0) === 1;
  return list(
    repeated(BOXES * BOXES, 0).flatMap((_, at) => {
      const y = Math.floor(at / BOXES);
      const x = at % BOXES;
      return isCentered ? [x + 0.5, y + 0.5, 1, 1] : [y, x, y + 1, x + 1];
    }),
  );
};

/** The corners of the first quarter of the picture, in the coordinates before the operator scales them. */
function quarter({ node, input }: OperatorUse): readonly number[] | undefined {
  const [height, width] = input(0)?.slice(2) ?? [];
  if (height === undefined || width === undefined) return undefined;
  const scale = node.attributes.find(({ name }) => name === 'spatial_scale')?.f ?? 1;
  return [0, 0, width / 2 / scale, height / 2 / scale];
}

const firstQuarter: FittingRule = (use) => {
  const corners = quarter(use);
  return list(corners && [0, ...corners]);
};

/** Blocks that slide over a picture. The number of positions along each axis decides the number of columns. */
class Blocks {
  readonly #axes: readonly { readonly stride: number; readonly dilation: number; readonly pads: number }[];

  constructor(node: OperatorUse['node'], axes: number) {
    const of = (name: string, absent: number, length = axes): readonly number[] =>
      integersAttribute(node, name) ?? repeated(length, absent);
    const strides = of('strides', 1);
    const dilations = of('dilations', 1);
    const pads = of('pads', 0, 2 * axes);
    this.#axes = repeated(axes, 0).map((_, axis) => ({
      stride: strides[axis] ?? 1,
      dilation: dilations[axis] ?? 1,
      pads: (pads[axis] ?? 0) + (pads[axis + axes] ?? 0),
    }));
  }

  /** Blocks of this size in a picture of this size. */
  countIn(picture: readonly number[], block: readonly number[]): number {
    return this.#axes.reduce((product, { stride, dilation, pads }, axis) => {
      const room = (picture[axis] ?? 0) + pads - dilation * ((block[axis] ?? 1) - 1) - 1;
      return product * (room < 0 ? 0 : Math.floor(room / stride) + 1);
    }, 1);
  }

  /** The sizes of the picture that has these numbers of blocks along its axes. */
  pictureOf(counts: readonly number[], block: readonly number[]): readonly number[] {
    return this.#axes.map(({ stride, dilation, pads }, axis) => {
      return ((counts[axis] ?? 1) - 1) * stride + dilation * ((block[axis] ?? 1) - 1) + 1 - pads;
    });
  }
}

function nearSquare(product: number): readonly [number, number] {
  let side = Math.floor(Math.sqrt(product));
  while (side > 1 && product % side !== 0) side--;
  return [side, product / Math.max(1, side)];
}

/** `axes` factors of a number: for two all ways, the most even first; for more only one. */
function factorings(product: number, axes: number): readonly (readonly number[])[] {
  if (axes === 1) return [[product]];
  if (axes === 2) {
    const sides = repeated(product, 0)
      .map((_, at) => at + 1)
      .filter((side) => product % side === 0);
    return sides
      .map((side) => [side, product / side])
      .sort(([a, b], [c, d]) => Math.abs((a ?? 0) - (b ?? 0)) - Math.abs((c ?? 0) - (d ?? 0)));
  }
  return [[...repeated(axes - 1, 1), product]];
}

/** Largest product of a block's sizes for which all ways are tried. */
const MAX_BLOCK = 4096;

/** Sizes of a picture and of its blocks that give the columns in the input of a Col2Im. */
function pictureAndBlock({ node, count, input, output, constant }: OperatorUse) {
  const [, rows = 0, columns = 0] = input(0) ?? [];
  const axes = count;
  const blocks = new Blocks(node, axes);
  const known = output(0);
  const picture = constant(1) ?? known?.slice(2);
  const channels = known?.[1];
  const given = constant(2);
  const perChannel = channels === undefined ? undefined : rows / channels;
  const candidates =
    given !== undefined
      ? [given]
      : perChannel === undefined || perChannel > MAX_BLOCK
        ? [repeated(axes, 1)]
        : factorings(perChannel, axes);
  for (const block of candidates) {
    if (picture !== undefined && blocks.countIn(picture, block) === columns) return { picture, block };
  }
  const [block] = candidates;
  if (picture !== undefined || block === undefined || axes > 2) return undefined;
  return { picture: blocks.pictureOf(axes === 1 ? [columns] : nearSquare(columns), block), block };
}

/** A MaxUnpool's output's shape, or computed from its kernel shape, strides and pads. */
function unpooled({ node, input, output }: OperatorUse): readonly number[] | undefined {
  const dims = input(0);
  if (dims === undefined || output(0) !== undefined) return output(0);
  const block = integersAttribute(node, 'kernel_shape') ?? [];
  return [...dims.slice(0, 2), ...new Blocks(node, block.length).pictureOf(dims.slice(2), block)];
}

export const PICTURE_RULES = tableOfNames<FittingRules>({
  Col2Im: { 1: (use) => list(pictureAndBlock(use)?.picture), 2: (use) => list(pictureAndBlock(use)?.block) },
  MaxRoiPool: { 1: firstQuarter },
  MaxUnpool: { 1: (use) => indicesBelow(unpooled(use)?.reduce((a, b) => a * b, 1)), 2: (use) => list(unpooled(use)) },
  NonMaxSuppression: {
    0: neighbours,
    1: () => ({ kind: 'range', low: 0.5, high: 1 }),
    2: ({ input }) => list([input(0)?.[1] ?? 1]),
    3: () => list([0.5]),
    4: () => list([0.25]),
  },
  RoiAlign: { 1: (use) => list(quarter(use)), 2: () => list([0]) },
});
