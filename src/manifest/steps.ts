import { z } from 'zod';
import { positiveNumber, wholeNumber } from '../base/bounded-number.js';
import type { ElementType } from '../onnx/model/element-type.js';

// Named operators with parameters and no code, after the `steps` of MLModelScope's manifests (Dakkak et al., arXiv
// 1911.08031, listing 1).

const MAX_SIDE = 16_384;
const side = wholeNumber(1, MAX_SIDE);

/** For red, green and blue, whatever the order of the model's channels. */
function perChannel(value: z.ZodType<number>) {
  return z
    .union([value, z.tuple([value, value, value])], { error: 'a number, or one each for red, green and blue' })
    .transform((given): readonly [number, number, number] => (Array.isArray(given) ? given : [given, given, given]));
}

const finite = z.number({ error: 'a number' });
const divisor = finite.refine((value) => value !== 0, { error: 'a number other than 0' });

export type ResizeMethod = 'bilinear' | 'bicubic' | 'nearest';

export type ResizeStep =
  | { readonly operator: 'resize'; readonly height: number; readonly width: number; readonly method: ResizeMethod }
  | { readonly operator: 'resize'; readonly shorterSide: number; readonly method: ResizeMethod };

export type Anchor = 'center' | 'top_left';

export type CropStep =
  | { readonly operator: 'crop'; readonly height: number; readonly width: number; readonly anchor: Anchor }
  | { readonly operator: 'crop'; readonly ratio: number; readonly anchor: Anchor };

export type GeometryStep = ResizeStep | CropStep;

const resizeField = z
  .strictObject({
    height: side.optional(),
    width: side.optional(),
    shorter_side: side.optional().describe('Keeps the aspect ratio.'),
    method: z.enum(['bilinear', 'bicubic', 'nearest']).default('bilinear'),
  })
  .transform(({ height, width, shorter_side: shorterSide, method }, context): ResizeStep => {
    if (height !== undefined && width !== undefined && shorterSide === undefined) {
      return { operator: 'resize', height, width, method };
    }
    if (height === undefined && width === undefined && shorterSide !== undefined) {
      return { operator: 'resize', shorterSide, method };
    }
    context.addIssue({ code: 'custom', message: 'height and width, or shorter_side alone' });
    return z.NEVER;
  });

const cropField = z
  .strictObject({
    height: side.optional(),
    width: side.optional(),
    ratio: positiveNumber()
      .max(1, { error: 'a number above 0 and at most 1' })
      .optional()
      .describe('The share of each side that is kept.'),
    anchor: z.enum(['center', 'top_left']).default('center'),
  })
  .transform(({ height, width, ratio, anchor }, context): CropStep => {
    if (height !== undefined && width !== undefined && ratio === undefined) {
      return { operator: 'crop', height, width, anchor };
    }
    if (height === undefined && width === undefined && ratio !== undefined) return { operator: 'crop', ratio, anchor };
    context.addIssue({ code: 'custom', message: 'height and width, or ratio alone' });
    return z.NEVER;
  });

export interface ImageSteps {
  /** The model's. */
  readonly colorMode: 'RGB' | 'BGR';
  readonly geometry: readonly GeometryStep[];
  /** (pixel - mean) / scale for pixels from 0 to 255; for red, green, blue in this order. */
  readonly mean: readonly [number, number, number];
  readonly scale: readonly [number, number, number];
  readonly layout: 'CHW' | 'HWC';
}

const imageStepField = z.strictObject({
  decode: z
    .strictObject({ color_mode: z.enum(['RGB', 'BGR']).default('RGB') })
    .optional()
    .describe('The first step: from a JPEG, PNG, WebP or GIF to pixels.'),
  resize: resizeField.optional(),
  crop: cropField.optional(),
  normalize: z
    .strictObject({
      mean: perChannel(finite).prefault(0),
      scale: perChannel(divisor).prefault(1),
    })
    .optional()
    .describe('(pixel - mean) / scale, for pixels from 0 to 255.'),
  layout: z.enum(['CHW', 'HWC']).optional(),
});

type ImageStep = z.output<typeof imageStepField>;

/** Steps of one rank may come in any order. */
const RANKS: Readonly<Record<keyof ImageStep, number>> = { decode: 0, resize: 1, crop: 1, normalize: 2, layout: 3 };

const ORDER = 'decode, then resize and crop in any number, then at most one normalize, then layout';

export function operatorOf(step: object): string | undefined {
  const names = Object.keys(step);
  return names.length === 1 ? names[0] : undefined;
}

function reportOrder(steps: readonly ImageStep[], context: z.RefinementCtx): void {
  let before = -1;
  for (const [i, step] of steps.entries()) {
    const operator = operatorOf(step);
    if (operator === undefined) {
      context.addIssue({ code: 'custom', path: [i], message: 'exactly one operator' });
      continue;
    }
    const rank = RANKS[operator as keyof ImageStep];
    const fits = i === 0 ? rank === 0 : rank > before || (rank === 1 && before === 1);
    if (!fits) context.addIssue({ code: 'custom', path: [i], message: ORDER });
    before = Math.max(before, rank);
  }
}

function convertImageSteps(steps: readonly ImageStep[]): ImageSteps {
  const normalize = steps.find((step) => step.normalize !== undefined)?.normalize;
  return {
    colorMode: steps[0]?.decode?.color_mode ?? 'RGB',
    geometry: steps.flatMap(({ resize, crop }) => resize ?? crop ?? []),
    mean: normalize?.mean ?? [0, 0, 0],
    scale: normalize?.scale ?? [1, 1, 1],
    layout: steps.find((step) => step.layout !== undefined)?.layout ?? 'CHW',
  };
}

export const imageStepsField = z
  .array(imageStepField)
  .min(1)
  .max(16)
  .superRefine(reportOrder)
  .transform(convertImageSteps);

export const IMAGE_ELEMENT_TYPES = ['uint8', 'float16', 'float32'] as const satisfies readonly ElementType[];

export type ImageElementType = (typeof IMAGE_ELEMENT_TYPES)[number];

export function isImageElementType(elementType: ElementType): elementType is ImageElementType {
  return IMAGE_ELEMENT_TYPES.some((type) => type === elementType);
}

/** In pixels; undefined where it depends on the picture. */
export function sizeAfter({ geometry }: ImageSteps): { readonly height: number; readonly width: number } | undefined {
  const last = geometry.at(-1);
  return last !== undefined && 'height' in last ? { height: last.height, width: last.width } : undefined;
}

/** Of one element of the batch; undefined where they depend on the picture. */
export function dimensionsAfter(steps: ImageSteps): readonly [number, number, number] | undefined {
  const size = sizeAfter(steps);
  if (size === undefined) return undefined;
  return steps.layout === 'CHW' ? [3, size.height, size.width] : [size.height, size.width, 3];
}
