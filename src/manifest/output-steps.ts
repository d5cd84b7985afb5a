import { z } from 'zod';
import { wholeNumber } from '../base/bounded-number.js';
import { oneLineField, text } from './fields.js';
import { isUrl } from './reference.js';
import { operatorOf } from './steps.js';

const LABELS = 'the path of a text file with a line for each class (nothing is downloaded)';

/** Relative to the manifest's folder. */
const labels = text(LABELS, (value) => !isUrl(value))
  .pipe(oneLineField(LABELS))
  .optional();

const layer = oneLineField('the name of an output of the graph');

const SHARE = 'a number from 0 to 1';
const share = z.number({ error: SHARE }).min(0, { error: SHARE }).max(1, { error: SHARE });

const outputStepField = z.strictObject({
  row: wholeNumber(-100_000, 100_000)
    .optional()
    .describe('Row of the output that has the scores; -1 is the last, as of a language model.'),
  softmax: z.strictObject({}).optional(),
  top_k: z.strictObject({ k: wholeNumber(1, 100_000).optional(), labels }).optional(),
  boxes: z
    .strictObject({
      // Corners, with y or x first, or centre, width and height.
      format: z.enum(['yxyx', 'xyxy', 'cxcywh']),
      coordinates: z.enum(['relative', 'pixels']).default('relative'),
      scores: layer,
      classes: layer.optional(),
      // Absent where all boxes count.
      count: layer.optional(),
      threshold: share.default(0.5),
      background: z.boolean().default(false),
      labels,
    })
    .optional(),
  non_max_suppression: z
    .strictObject({ iou: share.default(0.5), across_classes: z.boolean().default(false) })
    .optional(),
  // Values from 0 to 1 for each pixel of a box.
  instance_masks: z.strictObject({ masks: layer, threshold: share.default(0.5) }).optional(),
  // A `map` has a class for each pixel, the others a score for each class.
  segments: z.strictObject({ layout: z.enum(['CHW', 'HWC', 'map']), labels }).optional(),
});

type OutputStep = z.output<typeof outputStepField>;

type Step<Operator extends keyof OutputStep> = Readonly<NonNullable<OutputStep[Operator]>>;

/** For one batch element's part of an output. */
export interface ClassSteps extends Step<'top_k'> {
  readonly kind: 'classes';
  /** From 0, or from the end where it is negative; absent: the output has no rows. */
  readonly row?: number | undefined;
  readonly softmax: boolean;
}

export type BoxFormat = Step<'boxes'>['format'];

export interface BoxSteps extends Omit<Step<'boxes'>, 'coordinates' | 'background'> {
  readonly kind: 'boxes';
  readonly isInPixels: boolean;
  /** Class 0 is the background, where there is a score for each class. */
  readonly hasBackground: boolean;
  /** Absent where overlapping boxes are all kept. */
  readonly suppression?: { readonly iou: number; readonly acrossClasses: boolean } | undefined;
  readonly masks?: Step<'instance_masks'> | undefined;
  readonly k?: number | undefined;
}

export interface SegmentSteps extends Step<'segments'> {
  readonly kind: 'segments';
}

export type OutputSteps = ClassSteps | BoxSteps | SegmentSteps;

const ORDERS: readonly (readonly { readonly operator: keyof OutputStep; readonly isOptional?: true }[])[] = [
  [{ operator: 'row', isOptional: true }, { operator: 'softmax', isOptional: true }, { operator: 'top_k' }],
  [
    { operator: 'boxes' },
    { operator: 'non_max_suppression', isOptional: true },
    { operator: 'instance_masks', isOptional: true },
    { operator: 'top_k', isOptional: true },
  ],
  [{ operator: 'segments' }],
];

const ORDER =
  'top_k, after row and softmax where there are any; boxes, then non_max_suppression, instance_masks and top_k where there are any; or segments';

function isInOrder(operators: readonly (string | undefined)[], order: (typeof ORDERS)[number]): boolean {
  let at = 0;
  for (const { operator, isOptional } of order) {
    if (operators[at] === operator) at++;
    else if (isOptional === undefined) return false;
  }
  return at === operators.length;
}

function reportOrder(steps: readonly OutputStep[], context: z.RefinementCtx): void {
  const operators = steps.map(operatorOf);
  const order = ORDERS.find((candidate) => isInOrder(operators, candidate));
  if (order === undefined) context.addIssue({ code: 'custom', message: ORDER });
  const boxes = steps.find((step) => step.boxes !== undefined)?.boxes;
  const topK = steps.findIndex((step) => step.top_k?.labels !== undefined);
  if (boxes !== undefined && topK >= 0) {
    context.addIssue({
      code: 'custom',
      path: [topK, 'top_k', 'labels'],
      message: 'no labels, because labels belong to boxes',
    });
  }
  if (boxes?.background === true && boxes.classes !== undefined) {
    const message = 'false where classes names an output, because that output has no background class';
    context.addIssue({ code: 'custom', path: [0, 'boxes', 'background'], message });
  }
}

function convertBoxSteps(boxes: Step<'boxes'>, steps: readonly OutputStep[]): BoxSteps {
  const { format, coordinates, background, ...rest } = boxes;
  const suppression = steps.find((step) => step.non_max_suppression !== undefined)?.non_max_suppression;
  const masks = steps.find((step) => step.instance_masks !== undefined)?.instance_masks;
  const k = steps.at(-1)?.top_k?.k;
  return {
    kind: 'boxes',
    format,
    isInPixels: coordinates === 'pixels',
    hasBackground: background,
    ...rest,
    ...(suppression && { suppression: { iou: suppression.iou, acrossClasses: suppression.across_classes } }),
    ...(masks && { masks }),
    ...(k !== undefined && { k }),
  };
}

function convertOutputSteps(steps: readonly OutputStep[]): OutputSteps {
  const [first] = steps;
  if (first?.boxes !== undefined) return convertBoxSteps(first.boxes, steps);
  if (first?.segments !== undefined) return { kind: 'segments', ...first.segments };
  const row = steps.find((step) => step.row !== undefined)?.row;
  const softmax = steps.some((step) => step.softmax !== undefined);
  return { kind: 'classes', ...(row !== undefined && { row }), softmax, ...steps.at(-1)?.top_k };
}

export const outputStepsField = z
  .array(outputStepField)
  .min(1)
  .max(4)
  .superRefine(reportOrder)
  .transform(convertOutputSteps);
