import { PlatformError } from '../base/errors.js';
import { quotedUpTo } from '../base/quoted.js';
import { dimensionsAfter, type ImageSteps } from '../manifest/steps.js';
import type { ElementType } from '../onnx/model/element-type.js';
import type { TensorValue } from '../predictor/tensor-value.js';
import { decodeImage } from './decode-image.js';
import { applyGeometry } from './geometry.js';
import type { Image } from './image.js';
import { imageTensor } from './image-tensor.js';

export interface EncodedImage {
  readonly id: string;
  readonly bytes: Uint8Array;
}

async function decodeToSize({ id, bytes }: EncodedImage, { geometry }: ImageSteps): Promise<Image> {
  try {
    return applyGeometry(await decodeImage(bytes), geometry);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new PlatformError(error.code, `input ${quotedUpTo(id, 200)}: ${error.message}`, {
      cause: error,
    });
  }
}

export async function preprocessImages(
  images: readonly EncodedImage[],
  steps: ImageSteps,
  elementType: ElementType,
): Promise<TensorValue> {
  const sized: Image[] = [];
  for (const image of images) sized.push(await decodeToSize(image, steps));
  const dims = [images.length, ...(dimensionsAfter(steps) ?? [])];
  return { elementType, dims, bytes: imageTensor(sized, steps, elementType) };
}
