import { counted, listed } from '../../../src/plugin-api.js';
import type { Estimate } from '../estimate/compose.js';
import type { MadeUpPart, ModelRecipe } from '../bricks/recipe.js';
import type { WeightsOfRun } from '../bricks/values-of-run.js';
import { percent } from './words.js';

const REMEDY =
  '--values-of-run (`values: run` in manifests) takes sizes and values from one run of the file with its own weights, and --input NAME=VALUE gives an input its real values';

const NO_WEIGHTS =
  'the values of the run are made up too, because no file on this machine has the weights; use a model that is a file';

const NOT_KEPT =
  'the run did not give these values: they are made inside of a loop or a branch, or are too many; measure the whole model (validate)';

function describeProblem({ operators, kernels }: MadeUpPart): string {
  const readers = operators.reduce((sum, { count }) => sum + count, 0);
  const list = listed(operators.map(({ operator, count }) => (count === 1 ? operator : `${count} ${operator}`)));
  const after = kernels === readers ? '' : `, and the sizes in ${counted(kernels - readers, 'further node')}`;
  return `the estimate may be far off: made-up values decide the work of ${list}${after}`;
}

export function madeUpWarning(
  { name, madeUpValues, coverage }: Pick<Estimate, 'name' | 'madeUpValues' | 'coverage'>,
  runWith: WeightsOfRun | undefined,
): string | undefined {
  if (madeUpValues === undefined) return undefined;
  const remedy = runWith === undefined ? REMEDY : runWith === 'own' ? NOT_KEPT : NO_WEIGHTS;
  const rest = `${percent(coverage * 100)} of the sequences are measured and do not depend on them`;
  return `${name}: ${describeProblem(madeUpValues)}; ${rest}; ${remedy}`;
}

/** The same for a suite, which never has values of a run. */
export function madeUpInSuite({ name, made_up_values: madeUpValues }: ModelRecipe): string | undefined {
  if (madeUpValues === undefined) return undefined;
  return `${name}: ${describeProblem(madeUpValues)}; a suite has no values of a run, which would say something about the weights`;
}
