import { elementCount, nestedNodes, type Node } from '../../../src/plugin-api.js';
import { brickModel } from '../cut/brick-model.js';
import type { Brick } from './brick.js';

/**
 * Attributes that hold formulas and settings are shorter than this. Longer lists of numbers or texts count as learned.
 */
const MAX_SETTING_VALUES = 32;

function isLearned({ floats, strings, t, tensors }: Node['attributes'][number]): boolean {
  const sizes = [...(t === undefined ? [] : [t]), ...tensors].map(({ dims }) => elementCount(dims.map(Number)));
  return Math.max(floats.length, strings.length, ...sizes) > MAX_SETTING_VALUES;
}

/**
 * Operators of a brick with learned values that cannot be taken out: the trees and coefficients of classical models,
 * lists of labels, text constants. Such a brick would disclose them.
 */
export function operatorsWithLearnedAttributes(brick: Brick): readonly string[] {
  const { graph } = brickModel(brick);
  const texts = new Set(
    [...graph.initializers].filter(([, { data }]) => data.kind === 'strings').map(([name]) => name),
  );
  const operators = Array.from(nestedNodes(graph.nodes))
    .filter(({ attributes, inputs }) => attributes.some(isLearned) || inputs.some((name) => texts.has(name)))
    .map(({ opType }) => opType);
  return [...new Set(operators)];
}
