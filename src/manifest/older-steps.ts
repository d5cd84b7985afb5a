import { ownValue } from '../base/own-value.js';
import type { Dimension } from '../onnx/model/model.js';
import type { ClassSteps } from './output-steps.js';
import { type GeometryStep, IMAGE_ELEMENT_TYPES, type ImageSteps } from './steps.js';

// Source: c3sr/dlframework, framework/predictor/image_predictor.go and steps/; c3sr/image, resize.go.

export type OlderParameters = Readonly<Record<string, unknown>>;

/** `reason`: why there are no steps. */
export type OlderImage = { readonly steps: ImageSteps } | { readonly reason: string };

class Unusable extends Error {}

function textOf(parameters: OlderParameters, key: string): string {
  const value = ownValue(parameters, key);
  return typeof value === 'string' ? value.trim() : '';
}

/** A list, a text such as `[1, 2, 3]`, or one number for all three channels. */
function perChannel(parameters: OlderParameters, key: string, byDefault: number): readonly [number, number, number] {
  const value = ownValue(parameters, key) ?? '';
  const items: readonly unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value
          .trim()
          .replace(/^\[(.*)\]$/s, '$1')
          .split(',')
      : [value];
  const numbers = items.map((item) => {
    if (typeof item !== 'string') return Number.NaN;
    return item.trim() === '' ? byDefault : Number(item);
  });
  const [red, green = red, blue = red] = numbers;
  const isKnown = [1, 3].includes(numbers.length) && numbers.every((number) => Number.isFinite(number));
  if (!isKnown || red === undefined || green === undefined || blue === undefined) {
    throw new Unusable(`${key} is neither one number nor three`);
  }
  if (key === 'scale' && numbers.includes(0)) throw new Unusable('scale is 0');
  return [red, green, blue];
}

function readOneOf<T extends string>(parameters: OlderParameters, key: string, known: readonly T[], byDefault: T): T {
  const written = textOf(parameters, key);
  if (written === '') return byDefault;
  const found = known.find((name) => name === written.replace('_', ''));
  if (found === undefined) throw new Unusable(`${key} is not one of ${known.join(', ')}`);
  return found;
}

function positive(parameters: OlderParameters, key: string): number | undefined {
  const written = textOf(parameters, key);
  if (written === '') return undefined;
  const value = Number(written);
  if (!(value > 0 && value <= 16_384)) throw new Unusable(`${key} is not a size above 0 and up to 16384`);
  return value;
}

function convertGeometry(parameters: OlderParameters, height: number, width: number): readonly GeometryStep[] {
  if (positive(parameters, 'max_dimension') !== undefined)
    throw new Unusable('max_dimension gives every picture another size');
  const anchor =
    readOneOf(parameters, 'crop_method', ['center', 'topleft'], 'center') === 'center' ? 'center' : 'top_left';
  const ratio = positive(parameters, 'crop_ratio') ?? 1;
  const cut: readonly GeometryStep[] = ratio < 1 ? [{ operator: 'crop', ratio, anchor }] : [];
  const shorterSide = positive(parameters, 'min_dimension');
  if (shorterSide === undefined || textOf(parameters, 'keep_aspect_ratio').toLowerCase() !== 'true') {
    return [...cut, { operator: 'resize', height, width, method: 'bilinear' }];
  }
  if (shorterSide < Math.max(height, width)) throw new Unusable('min_dimension is less than the input');
  return [...cut, { operator: 'resize', shorterSide, method: 'bilinear' }, { operator: 'crop', height, width, anchor }];
}

/** Older manifests may write dimensions in this order for every layout. */
function isChannelsFirst([channels]: readonly Dimension[]): boolean {
  return channels === 3;
}

/** Without the batch, in the input's layout. */
export function layOut(dimensions: readonly Dimension[], parameters: OlderParameters): readonly Dimension[] {
  const [channels = '', height = '', width = ''] = dimensions;
  const isTurned = textOf(parameters, 'layout') === 'HWC' && isChannelsFirst(dimensions) && width !== 3;
  return isTurned ? [height, width, channels] : dimensions;
}

/** `dimensions` are as they are written, without the batch. */
export function olderImageSteps(
  parameters: OlderParameters,
  dimensions: readonly Dimension[] | undefined,
  elementType: string | undefined,
): OlderImage {
  try {
    if (!IMAGE_ELEMENT_TYPES.some((type) => type === (elementType ?? 'float32'))) {
      throw new Unusable(`element_type is not one of ${IMAGE_ELEMENT_TYPES.join(', ')}`);
    }
    const layout = readOneOf(parameters, 'layout', ['CHW', 'HWC'], 'CHW');
    const sizes = dimensions?.length === 3 ? dimensions : ['', '', ''];
    const [channels, height, width] = isChannelsFirst(sizes) ? sizes : [sizes[2], sizes[0], sizes[1]];
    if (channels !== 3 || typeof height !== 'number' || typeof width !== 'number') {
      throw new Unusable('dimensions are not three channels, height and width');
    }
    const steps: ImageSteps = {
      colorMode: readOneOf(parameters, 'color_mode', ['RGB', 'BGR'], 'RGB'),
      geometry: convertGeometry(parameters, height, width),
      mean: perChannel(parameters, 'mean', 0),
      scale: perChannel(parameters, 'scale', 1),
      layout,
    };
    return { steps };
  } catch (error) {
    if (error instanceof Unusable) return { reason: error.message };
    throw error;
  }
}

/** `labels` is the path of their names. */
export function olderClassSteps(parameters: OlderParameters, labels: string | undefined): ClassSteps {
  const softmax = textOf(parameters, 'probabilities_transform') === 'softmax';
  return { kind: 'classes', softmax, ...(labels === undefined ? {} : { labels }) };
}
