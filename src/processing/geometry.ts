import { PlatformError } from '../base/errors.js';
import type { CropStep, GeometryStep, ResizeStep } from '../manifest/steps.js';
import { CHANNELS, type Image } from './image.js';
import { resizeImage } from './resize.js';

/** As Python rounds: a half goes to the even neighbour. */
function roundHalfEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

/** With `shorterSide`, the longer side is rounded down, as torchvision does (transforms.functional.resize). */
function resize(image: Image, step: ResizeStep): Image {
  if ('height' in step) return resizeImage(image, step.width, step.height, step.method);
  const { width, height } = image;
  const long = Math.max(1, Math.floor((step.shorterSide * Math.max(width, height)) / Math.min(width, height)));
  const [toWidth, toHeight] = width <= height ? [step.shorterSide, long] : [long, step.shorterSide];
  return resizeImage(image, toWidth, toHeight, step.method);
}

/** The centre is where torchvision has it (transforms.functional.center_crop). */
function crop(image: Image, step: CropStep): Image {
  const [width, height] =
    'height' in step
      ? [step.width, step.height]
      : [image.width, image.height].map((side) => Math.max(1, Math.floor(side * step.ratio)));
  if (width === undefined || height === undefined || width > image.width || height > image.height) {
    const found = `${image.width} x ${image.height} pixels (width x height)`;
    throw new PlatformError('usage', `the model's manifest crops ${width} x ${height} out of a picture of ${found}`);
  }
  const isCentered = step.anchor === 'center';
  const left = isCentered ? roundHalfEven((image.width - width) / 2) : 0;
  const top = isCentered ? roundHalfEven((image.height - height) / 2) : 0;
  const pixels = new Uint8Array(width * height * CHANNELS);
  for (let y = 0; y < height; y++) {
    const from = ((top + y) * image.width + left) * CHANNELS;
    pixels.set(image.pixels.subarray(from, from + width * CHANNELS), y * width * CHANNELS);
  }
  return { width, height, pixels };
}

/** @throws PlatformError `usage` where a crop is larger than its picture */
export function applyGeometry(image: Image, steps: readonly GeometryStep[]): Image {
  return steps.reduce((at, step) => (step.operator === 'resize' ? resize(at, step) : crop(at, step)), image);
}
