import type { ResizeMethod } from '../manifest/steps.js';
import { PlatformError } from '../base/errors.js';
import { CHANNELS, type Image, MAX_PIXELS } from './image.js';

/**
 * Resampling as Pillow does it, to the bit, because models are trained on such pictures: the filter is stretched over
 * the source pixels of a target pixel ("antialiasing"), weights have 22 fractional bits, the first pass goes along
 * rows, the second along columns, and each rounds to a byte. Source: src/libImaging/Resample.c of Pillow 12. Pillow 13
 * takes columns first where that is faster, which changes some bytes by 1.
 */
const PRECISION_BITS = 22;

interface Filter {
  /** Half the filter's width, in target pixels when shrinking, else in source pixels. */
  readonly support: number;
  readonly weight: (x: number) => number;
}

/** Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981, with a = -0.5. */
const CUBIC = -0.5;

const FILTERS: Readonly<Record<Exclude<ResizeMethod, 'nearest'>, Filter>> = {
  bilinear: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  bicubic: {
    support: 2,
    weight(signed) {
      const x = Math.abs(signed);
      if (x < 1) return ((CUBIC + 2) * x - (CUBIC + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * CUBIC : 0;
    },
  },
};

/** Weights are of the first source pixel and the next ones. */
interface Window {
  readonly first: number;
  readonly weights: Int32Array;
}

function computeWindows({ support, weight }: Filter, from: number, to: number): readonly Window[] {
  const scale = from / to;
  const stretch = Math.max(scale, 1);
  const reach = support * stretch;
  return Array.from({ length: to }, (_, target) => {
    const center = (target + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - reach + 0.5));
    const end = Math.min(from, Math.trunc(center + reach + 0.5));
    const weights = Array.from({ length: end - first }, (_, i) => weight((first + i - center + 0.5) * (1 / stretch)));
    const sum = weights.reduce((total, value) => total + value, 0);
    return {
      first,
      weights: Int32Array.from(weights, (value) => {
        const fixed = (sum === 0 ? value : value / sum) * 2 ** PRECISION_BITS;
        return Math.trunc(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
      }),
    };
  });
}

const HALF = 1 << (PRECISION_BITS - 1);

function byteOf(sum: number): number {
  const value = sum >> PRECISION_BITS;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

function resizeRows({ width, height, pixels }: Image, windows: readonly Window[]): Image {
  const target = new Uint8Array(windows.length * height * CHANNELS);
  let at = 0;
  for (let y = 0; y < height; y++) {
    const row = y * width * CHANNELS;
    for (const { first, weights } of windows) {
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      let from = row + first * CHANNELS;
      for (const weight of weights) {
        red += (pixels[from] ?? 0) * weight;
        green += (pixels[from + 1] ?? 0) * weight;
        blue += (pixels[from + 2] ?? 0) * weight;
        from += CHANNELS;
      }
      target[at] = byteOf(red);
      target[at + 1] = byteOf(green);
      target[at + 2] = byteOf(blue);
      at += CHANNELS;
    }
  }
  return { width: windows.length, height, pixels: target };
}

function resizeColumns({ width, pixels }: Image, windows: readonly Window[]): Image {
  const rowBytes = width * CHANNELS;
  const target = new Uint8Array(rowBytes * windows.length);
  const sums = new Float64Array(rowBytes);
  for (const [y, { first, weights }] of windows.entries()) {
    sums.fill(HALF);
    for (const [i, weight] of weights.entries()) {
      const from = (first + i) * rowBytes;
      for (let x = 0; x < rowBytes; x++) sums[x] = (sums[x] ?? 0) + (pixels[from + x] ?? 0) * weight;
    }
    for (let x = 0; x < rowBytes; x++) target[y * rowBytes + x] = byteOf(sums[x] ?? 0);
  }
  return { width, height: windows.length, pixels: target };
}

function resizeNearest(image: Image, width: number, height: number): Image {
  const pixels = new Uint8Array(width * height * CHANNELS);
  let at = 0;
  for (let y = 0; y < height; y++) {
    const row = Math.floor((y + 0.5) * (image.height / height)) * image.width;
    for (let x = 0; x < width; x++) {
      const from = (row + Math.floor((x + 0.5) * (image.width / width))) * CHANNELS;
      pixels.set(image.pixels.subarray(from, from + CHANNELS), at);
      at += CHANNELS;
    }
  }
  return { width, height, pixels };
}

/** @throws PlatformError `usage`, before any work, where it is too large: long, narrow pictures can become enormous */
export function resizeImage(image: Image, width: number, height: number, method: ResizeMethod): Image {
  if (image.width === width && image.height === height) return image;
  // Between the two passes, the picture has the new width and the old height.
  if (width * Math.max(height, image.height) > MAX_PIXELS) {
    const sizes = `${image.width} x ${image.height} to ${width} x ${height} pixels (width x height)`;
    throw new PlatformError('usage', `resizing it from ${sizes} takes more than ${MAX_PIXELS} pixels; crop it first`);
  }
  if (method === 'nearest') return resizeNearest(image, width, height);
  const filter = FILTERS[method];
  const wide = image.width === width ? image : resizeRows(image, computeWindows(filter, image.width, width));
  return wide.height === height ? wide : resizeColumns(wide, computeWindows(filter, wide.height, height));
}
