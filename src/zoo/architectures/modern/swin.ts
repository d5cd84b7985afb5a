import { fixed, type Value } from '../../builder.js';
import { conv } from '../../convolution.js';
import { embedding } from '../../initialization.js';
import { channelsFirst, channelsLast, slice } from '../../shaping.js';
import {
  add,
  chain,
  concat,
  gatherRows,
  imageNetwork,
  type Layer,
  matMul,
  mul,
  reshape,
  softmax,
  split,
  sub,
  times,
  transpose,
  unsqueeze,
} from '../../tensor.js';
import { dense, gelu, layerNorm, prenormed, project } from '../../transformer.js';
import { imageScores, torchvisionClassifiers } from '../torchvision.js';

const WINDOW = 7;
const PIXELS = WINDOW ** 2;
const SHIFT = 3;

const norm = layerNorm(1e-5);

/** Pixels that leave at one side enter at the other; [batch, height, width, channels]. */
function roll(x: Value, by: number): Value {
  const along = (axis: 1 | 2): Layer => {
    return (value) => {
      const size = fixed(value, axis);
      const start = by > 0 ? by : size + by;
      return concat(axis, [slice(axis, start, size)(value), slice(axis, 0, start)(value)]);
    };
  };
  return chain(along(1), along(2))(x);
}

/** [batch, window, pixel, channels]. */
const windows: Layer = (x) => {
  const rows = fixed(x, 1) / WINDOW;
  const columns = fixed(x, 2) / WINDOW;
  const channels = fixed(x, 3);
  const parted = transpose(reshape(x, [0, rows, WINDOW, columns, WINDOW, channels]), [0, 1, 3, 2, 4, 5]);
  return reshape(parted, [0, rows * columns, PIXELS, channels]);
};

function merged(x: Value, height: number, width: number): Value {
  const rows = height / WINDOW;
  const columns = width / WINDOW;
  const channels = fixed(x, 3);
  const parted = reshape(x, [0, rows, columns, WINDOW, WINDOW, channels]);
  return reshape(transpose(parted, [0, 1, 3, 2, 4, 5]), [0, height, width, channels]);
}

function distances(): readonly number[] {
  const side = 2 * WINDOW - 1;
  const pixels = Array.from({ length: PIXELS }, (_, i) => [Math.floor(i / WINDOW), i % WINDOW] as const);
  return pixels.flatMap(([y, x]) => pixels.map(([v, u]) => (y - v + WINDOW - 1) * side + (x - u + WINDOW - 1)));
}

/** For pixels that came together by rolling, [window, 1, pixel, pixel]: low where their regions differ. */
function regionMask(x: Value, height: number, width: number): Value {
  const region = (at: number, size: number): number => (at < size - WINDOW ? 0 : at < size - SHIFT ? 1 : 2);
  const numbers: number[] = [];
  for (let row = 0; row < height; row += WINDOW) {
    for (let column = 0; column < width; column += WINDOW) {
      for (let pixel = 0; pixel < PIXELS; pixel++) {
        const v = row + Math.floor(pixel / WINDOW);
        const u = column + (pixel % WINDOW);
        numbers.push(3 * region(v, height) + region(u, width));
      }
    }
  }
  const regions = reshape(x.graph.floats('regions', numbers), [-1, PIXELS]);
  const difference = sub(unsqueeze(regions, [1, 2]), unsqueeze(regions, [1, 3]));
  return times(-100)(mul(difference, difference));
}

function attention(heads: number, shift: number): Layer {
  return (x) => {
    const height = fixed(x, 1);
    const width = fixed(x, 2);
    const channels = fixed(x, 3);
    const parted = windows(shift > 0 ? roll(x, shift) : x);
    const headsOf = (value: Value, perm: readonly number[]): Value =>
      transpose(reshape(value, [0, 0, 0, heads, channels / heads]), perm);
    const [query, key, value] = split(dense(3 * channels)(parted), 3) as [Value, Value, Value];
    const scaled = mul(headsOf(query, [0, 1, 3, 2, 4]), x.graph.scalar('scale', (channels / heads) ** -0.5));
    const table = embedding(x.graph, [(2 * WINDOW - 1) ** 2, heads]);
    const ofDistances = gatherRows(table, x.graph.integers('distances', distances()));
    const bias = transpose(reshape(ofDistances, [PIXELS, PIXELS, heads]), [2, 0, 1]);
    const scores = add(matMul(scaled, headsOf(key, [0, 1, 3, 4, 2])), bias);
    const masked = shift > 0 ? add(scores, regionMask(x, height, width)) : scores;
    const mixed = transpose(matMul(softmax(masked), headsOf(value, [0, 1, 3, 2, 4])), [0, 1, 3, 2, 4]);
    const output = merged(dense(channels)(reshape(mixed, [0, 0, 0, channels])), height, width);
    return shift > 0 ? roll(output, -shift) : output;
  };
}

function block(heads: number, isShifted: boolean): Layer {
  return (x) => {
    const shift = isShifted && fixed(x, 1) > WINDOW ? SHIFT : 0;
    const channels = fixed(x, 3);
    const feed = prenormed(norm, dense(4 * channels), gelu, dense(channels));
    return chain(prenormed(norm, attention(heads, shift)), feed)(x);
  };
}

const mergePatches: Layer = (x) => {
  const height = fixed(x, 1);
  const width = fixed(x, 2);
  const channels = fixed(x, 3);
  const squares = transpose(reshape(x, [0, height / 2, 2, width / 2, 2, channels]), [0, 1, 3, 4, 2, 5]);
  return chain(norm, project(2 * channels))(reshape(squares, [0, height / 2, width / 2, 4 * channels]));
};

interface SwinOptions {
  readonly depths: readonly number[];
  readonly width: number;
  readonly heads: number;
  readonly size?: number;
}

export function swin({ depths, width, heads, size = 224 }: SwinOptions) {
  const stages = depths.map((depth, i) =>
    chain(
      ...(i === 0 ? [] : [mergePatches]),
      ...Array.from({ length: depth }, (_, j) => block(heads * 2 ** i, j % 2 === 1)),
    ),
  );
  return imageNetwork(
    size,
    conv(width, 4, { stride: 4 }),
    channelsLast,
    norm,
    ...stages,
    norm,
    channelsFirst,
    imageScores,
  );
}

const tiny = swin({ depths: [2, 2, 6, 2], width: 96, heads: 3 });

export const SWIN = torchvisionClassifiers('Liu et al., Swin Transformer, ICCV 2021, arXiv:2103.14030', [
  'swin_t',
  'Swin-T',
  'Swin_T_Weights',
  28_288_354,
  4_491_000_000,
  tiny,
]);
