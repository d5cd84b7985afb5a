import { elementsOfPicture, type ElementType, type Image, type ImageSteps } from '../../../src/plugin-api.js';
import type { DifferingAspect } from './agreement-result.js';

const NAMES: Readonly<Record<keyof ImageSteps, string>> = {
  colorMode: 'decode.color_mode',
  geometry: 'resize and crop',
  mean: 'normalize.mean',
  scale: 'normalize.scale',
  layout: 'layout',
};

function largestDifference(first: readonly number[], second: readonly number[]): number | null {
  if (first.length !== second.length) return null;
  return first.reduce((most, one, index) => Math.max(most, Math.abs(one - (second[index] ?? 0))), 0);
}

export function differingSteps(
  before: ImageSteps,
  after: ImageSteps,
  picture: Image,
  elementType: ElementType,
): readonly DifferingAspect[] {
  const keys = Object.keys(NAMES) as (keyof ImageSteps)[];
  const differing = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  const usual = differing.length === 0 ? [] : elementsOfPicture(picture, before, elementType);
  return differing.map((key) => ({
    aspect: NAMES[key],
    before: JSON.stringify(before[key]),
    after: JSON.stringify(after[key]),
    input_difference: largestDifference(
      usual,
      elementsOfPicture(picture, { ...before, [key]: after[key] }, elementType),
    ),
  }));
}
