import { counted, gigabytes } from '../../src/plugin-api.js';
import type { Limits, LoadedModel } from '../../src/plugin-api.js';
import type { CutSettings } from './bricks/decompose.js';
import {
  initializerBytes,
  LARGE_BYTES,
  largestInitializerBytes,
  describeShortening,
} from './bricks/prepare-extended.js';

interface Building extends CutSettings {
  readonly limits: Limits;
  readonly measureEndToEnd: boolean;
}

/** To show before anything of a large model is built; undefined for models that are not large. */
export function bytesNote(loaded: LoadedModel, building: Building): string | undefined {
  const { name, model } = loaded;
  const wholeBytes = initializerBytes(model);
  if (wholeBytes <= LARGE_BYTES) return undefined;
  const { measureEndToEnd, limits } = building;
  const shortening = describeShortening(loaded, building);
  const parts = [`${name}: ${gigabytes(wholeBytes)} of weights`];
  if (shortening !== undefined) {
    const { blocks, shortenedBytes } = shortening;
    const block = `${counted(blocks.count, 'repeated block')} of ${counted(blocks.length, 'layer')}`;
    parts.push(`${block}: graphs with at most ${gigabytes(shortenedBytes)} are optimized`);
  } else if (building.cut === 'kernel') parts.push('its whole graph is optimized');
  parts.push(`its largest weight has ${gigabytes(largestInitializerBytes(model))}`);
  const limit = gigabytes(limits.memoryLimitBytes);
  parts.push(`the limit of a measurement is ${limit}`);
  if (measureEndToEnd && wholeBytes > limits.memoryLimitBytes)
    parts.push('the whole model exceeds it and is not measured');
  return parts.join('; ');
}
