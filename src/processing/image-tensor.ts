import { PlatformError } from '../base/errors.js';
import type { ImageSteps } from '../manifest/steps.js';
import type { ElementType } from '../onnx/element-type.js';
import { float16Bits } from './float16.js';
import { CHANNELS, type Image } from './image.js';

/** What pictures can be made: one array element per channel of a pixel. */
type Pixels = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** Of the one value that a byte of one channel becomes; in float32 throughout, as NumPy computes it. */
function normalized(pixel: number, mean: number, scale: number): number {
  return Math.fround(Math.fround(pixel - Math.fround(mean)) / Math.fround(scale));
}

function arrayOf(elementType: ElementType, length: number): Pixels {
  switch (elementType) {
    case 'float32':
      return new Float32Array(length);
    case 'float16':
      return new Uint16Array(length);
    case 'uint8':
      return new Uint8Array(length);
    default:
      throw new PlatformError('unsupported', `pictures cannot be made ${elementType}; uint8, float16 and float32 can`);
  }
}

function encode(elementType: ElementType, value: number): number {
  if (elementType === 'float16') return float16Bits(value);
  return elementType === 'uint8' ? Math.min(255, Math.max(0, Math.trunc(value))) : value;
}

/** All that the 256 bytes of each channel can become, red, green and blue. */
function tablesOf({ mean, scale }: ImageSteps, elementType: ElementType): readonly Pixels[] {
  return mean.map((channelMean, channel) => {
    const table = arrayOf(elementType, 256);
    for (let pixel = 0; pixel < 256; pixel++) {
      table[pixel] = encode(elementType, normalized(pixel, channelMean, scale[channel] ?? 1));
    }
    return table;
  });
}

/**
 * Normalizes pictures of one size and lays them out one after another.
 *
 * @returns the tensor's bytes: [picture, channel, row, column] for CHW, [picture, row, column, channel] for HWC
 * @throws PlatformError `unsupported` for an element type that pictures are not given as
 */
export function imageTensor(
  images: readonly Image[],
  steps: ImageSteps,
  elementType: ElementType,
): Uint8Array<ArrayBuffer> {
  const tables = tablesOf(steps, elementType);
  const pixelsPerImage = images.map(({ width, height }) => width * height);
  const total = pixelsPerImage.reduce((sum, pixels) => sum + pixels, 0);
  const target = arrayOf(elementType, total * CHANNELS);
  let start = 0;
  for (const [i, { pixels }] of images.entries()) {
    const count = pixelsPerImage[i] ?? 0;
    for (const [channel, table] of tables.entries()) {
      const place = steps.colorMode === 'RGB' ? channel : CHANNELS - 1 - channel;
      const [first, stride] = steps.layout === 'CHW' ? [place * count, 1] : [place, CHANNELS];
      for (let pixel = 0; pixel < count; pixel++) {
        target[start + first + pixel * stride] = table[pixels[pixel * CHANNELS + channel] ?? 0] ?? 0;
      }
    }
    start += count * CHANNELS;
  }
  return new Uint8Array(target.buffer);
}
