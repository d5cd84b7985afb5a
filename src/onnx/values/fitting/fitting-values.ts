import { LENGTH_RULES } from './length-rules.js';
import { type Fitting, type FittingRules, MAX_FITTING_VALUES, type OperatorUse } from './operator-use.js';
import { PICTURE_RULES } from './picture-rules.js';
import { SHAPE_RULES } from './shape-rules.js';

const RULES: ReadonlyMap<string, FittingRules> = new Map([...SHAPE_RULES, ...LENGTH_RULES, ...PICTURE_RULES]);

/** A Reshape's target, lengths, boxes; undefined where any values work, and where too little is known. */
export function fittingValues(index: number, use: OperatorUse): Fitting | undefined {
  const fitting = RULES.get(use.node.opType)?.[index]?.(use);
  if (fitting?.kind !== 'list') return fitting;
  const { length } = fitting.values;
  const isUsable = length > 0 && length <= MAX_FITTING_VALUES && fitting.values.every(Number.isFinite);
  return isUsable ? fitting : undefined;
}
