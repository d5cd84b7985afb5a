import { elementCount, nestedNodes, type Node, parseModel } from '../../../src/plugin-api.js';
import type { Brick } from './brick.js';

/** Attributes of formulas and settings are shorter than this; longer lists of numbers or texts were learned. */
const MOST_SETTING_VALUES = 32;

function isLearned({ floats, strings, t, tensors }: Node['attributes'][number]): boolean {
  const sizes = [...(t === undefined ? [] : [t]), ...tensors].map(({ dims }) => elementCount(dims.map(Number)));
  return Math.max(floats.length, strings.length, ...sizes) > MOST_SETTING_VALUES;
}

/**
 * Operators of a brick that keep learned values where they cannot be taken out: the trees and coefficients of classical
 * models, label lists, text constants. Such a brick would show them.
 */
export function operatorsWithLearnedAttributes(brick: Brick): readonly string[] {
  const { graph } = parseModel(brick.model, 'brick');
  const texts = new Set(
    [...graph.initializers].filter(([, { data }]) => data.kind === 'strings').map(([name]) => name),
  );
  const operators = Array.from(nestedNodes(graph.nodes))
    .filter(({ attributes, inputs }) => attributes.some(isLearned) || inputs.some((name) => texts.has(name)))
    .map(({ opType }) => opType);
  return [...new Set(operators)];
}
