import { LENGTH_RULES } from './length-rules.js';
import type { Fitting, FittingRules, OperatorUse } from './operator-use.js';
import { PICTURE_RULES } from './picture-rules.js';
import { SHAPE_RULES } from './shape-rules.js';

const RULES: ReadonlyMap<string, FittingRules> = new Map([...SHAPE_RULES, ...LENGTH_RULES, ...PICTURE_RULES]);

/**
 * Values for an input that must fit to others: a Reshape's target, lengths of sequences, boxes. Depends on types and
 * constants only; undefined where any values will do, and where too little is known.
 */
export function fittingValues(index: number, use: OperatorUse): Fitting | undefined {
  const fitting = RULES.get(use.node.opType)?.[index]?.(use);
  if (fitting?.kind !== 'list') return fitting;
  return fitting.values.length > 0 && fitting.values.every(Number.isFinite) ? fitting : undefined;
}
