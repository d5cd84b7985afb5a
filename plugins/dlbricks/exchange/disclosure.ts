import { countBricks, countKernels, type ModelRecipe } from '../bricks/recipe.js';
import { elementCount, type Node, nestedNodes, maxOf } from '../../../src/plugin-api.js';
import { brickModel } from '../cut/brick-model.js';
import type { Brick } from '../bricks/brick.js';

/** Largest brick, share of layers or kernels in bricks of more than one, which show their order, and bricks in no decoy. */
export function computeDisclosure(models: readonly ModelRecipe[], decoys: readonly ModelRecipe[]) {
  let largestBrick = 0;
  let all = 0;
  let inLarger = 0;
  const own = new Set<string>();
  for (const model of models) {
    const counts = countBricks(model);
    all += countKernels(model);
    for (const [index, { signature, operators }] of model.bricks.entries()) {
      own.add(signature);
      largestBrick = Math.max(largestBrick, operators.length);
      if (operators.length > 1) inLarger += operators.length * (counts[index] ?? 0);
    }
  }
  const ofDecoys = new Set(decoys.flatMap(({ bricks }) => bricks.map(({ signature }) => signature)));
  return {
    largestBrick,
    inLargerBricks: all === 0 ? 0 : inLarger / all,
    bricks: own.size,
    inNoDecoy: [...own].filter((signature) => !ofDecoys.has(signature)).length,
  };
}

/** Settings and formulas are shorter. Longer lists of numbers or texts count as learned. */
const MAX_SETTING_VALUES = 32;

function isLearned({ floats, strings, t, tensors }: Node['attributes'][number]): boolean {
  const sizes = [...(t === undefined ? [] : [t]), ...tensors].map(({ dims }) => elementCount(dims.map(Number)));
  return maxOf([floats.length, strings.length, ...sizes]) > MAX_SETTING_VALUES;
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
