import { elementCount, nestedNodes, type Node } from '../../../src/plugin-api.js';
import { brickModel } from '../cut/brick-model.js';
import type { Brick } from './brick.js';

/** Settings and formulas are shorter. Longer lists of numbers or texts count as learned. */
const MAX_SETTING_VALUES = 32;

function isLearned({ floats, strings, t, tensors }: Node['attributes'][number]): boolean {
  const sizes = [...(t === undefined ? [] : [t]), ...tensors].map(({ dims }) => elementCount(dims.map(Number)));
  return Math.max(floats.length, strings.length, ...sizes) > MAX_SETTING_VALUES;
}

/** Operators with learned values that cannot be taken out, such as trees or labels: the brick would disclose them. */
export function operatorsWithLearnedAttributes(brick: Brick): readonly string[] {
  const { graph } = brickModel(brick);
  const texts = new Set(
    [...graph.initializers].filter(([, { data }]) => data.kind === 'strings').map(([name]) => name),
  );
  const learned = [...nestedNodes(graph.nodes)].filter(({ attributes, inputs }) => {
    return attributes.some(isLearned) || inputs.some((name) => texts.has(name));
  });
  return [...new Set(learned.map(({ opType }) => opType))];
}
