import { countBricks, countKernels, type ModelRecipe } from '../bricks/recipe.js';

export interface Disclosure {
  readonly largestBrick: number;
  /** Share of the models' layers or kernels, from 0 to 1, in bricks of more than one: their order is shown. */
  readonly inLargerBricks: number;
  readonly bricks: number;
  readonly inNoDecoy: number;
}

export function computeDisclosure(models: readonly ModelRecipe[], decoys: readonly ModelRecipe[]): Disclosure {
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
