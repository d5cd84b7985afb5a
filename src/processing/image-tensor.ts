import { PlatformError } from '../base/errors.js';
import { IMAGE_ELEMENT_TYPES, type ImageElementType, type ImageSteps, isImageElementType } from '../manifest/steps.js';
import { ELEMENT_TYPES, type ElementType } from '../onnx/model/element-type.js';
import { float16Bits } from '../onnx/model/float16.js';
import { CHANNELS, type Image } from './image.js';

type Pixels = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** All steps are in float32, as NumPy computes them. */
function normalized(pixel: number, mean: number, scale: number): number {
  return Math.fround(Math.fround(pixel - Math.fround(mean)) / Math.fround(scale));
}

function arrayOf(elementType: ImageElementType, length: number): Pixels {
  return new ELEMENT_TYPES[elementType].array(length);
}

function encode(elementType: ImageElementType, value: number): number {
  switch (elementType) {
    case 'float16':
      return float16Bits(value);
    case 'uint8':
      return Math.min(255, Math.max(0, Math.trunc(value)));
    case 'float32':
      return value;
  }
}

/** For all 256 bytes of red, green and blue. */
function buildTables({ mean, scale }: ImageSteps, elementType: ImageElementType): readonly Pixels[] {
  return mean.map((channelMean, channel) => {
    const table = arrayOf(elementType, 256);
    for (let pixel = 0; pixel < 256; pixel++) {
      table[pixel] = encode(elementType, normalized(pixel, channelMean, scale[channel] ?? 1));
    }
    return table;
  });
}

/**
 * Stores pictures of the same size one after another.
 *
 * @returns [picture, channel, row, column] for CHW, [picture, row, column, channel] for HWC
 * @throws PlatformError `unsupported` for an element type that pictures cannot be converted to
 */
export function imageTensor(
  images: readonly Image[],
  steps: ImageSteps,
  elementType: ElementType,
): Uint8Array<ArrayBuffer> {
  if (!isImageElementType(elementType)) {
    throw new PlatformError(
      'unsupported',
      `pictures cannot be converted to ${elementType}, only to ${IMAGE_ELEMENT_TYPES.join(', ')}`,
    );
  }
  const tables = buildTables(steps, elementType);
  const pixelsPerImage = images.map(({ width, height }) => width * height);
  const total = pixelsPerImage.reduce((sum, pixels) => sum + pixels, 0);
  const target = arrayOf(elementType, total * CHANNELS);
  let start = 0;
  for (const [i, { pixels }] of images.entries()) {
    const count = pixelsPerImage[i] ?? 0;
    for (const [channel, table] of tables.entries()) {
      const plane = steps.colorMode === 'RGB' ? channel : CHANNELS - 1 - channel;
      const [first, stride] = steps.layout === 'CHW' ? [plane * count, 1] : [plane, CHANNELS];
      for (let pixel = 0; pixel < count; pixel++) {
        target[start + first + pixel * stride] = table[pixels[pixel * CHANNELS + channel] ?? 0] ?? 0;
      }
    }
    start += count * CHANNELS;
  }
  return new Uint8Array(target.buffer);
}
