import { counted, listed } from '../../../src/plugin-api.js';
import type { Estimate } from '../estimate/compose.js';
import type { WeightsOfRun } from '../bricks/values-of-run.js';
import { percent } from './words.js';

/** How to make an estimate right whose values are made up. */
const REMEDY =
  '--values-of-run (`values: run` in manifests) takes sizes and values from one run of the file with its own weights, and --input NAME=VALUE gives an input its real values';

const NO_WEIGHTS =
  'the values of the run are made up too, because no file on this machine has the weights; use a model that is a file';

const NOT_KEPT =
  'the run did not give these values: they are made inside of a loop or a branch, or are too many; measure the whole model (validate)';

/** The warning about a model whose work or sizes depend on made-up values; undefined where there is nothing to warn of. */
export function madeUpWarning(
  { name, madeUpValues, coverage }: Pick<Estimate, 'name' | 'madeUpValues' | 'coverage'>,
  runWith: WeightsOfRun | undefined,
): string | undefined {
  if (madeUpValues === undefined) return undefined;
  const { operators, kernels } = madeUpValues;
  const readers = operators.reduce((sum, { count }) => sum + count, 0);
  const list = listed(operators.map(({ operator, count }) => (count === 1 ? operator : `${count} ${operator}`)));
  const after = kernels === readers ? '' : `, and the sizes of ${counted(kernels - readers, 'kernel')} after`;
  const problem = `the estimate may be far off: made-up values decide the work of ${list}${after}`;
  const remedy = runWith === undefined ? REMEDY : runWith === 'own' ? NOT_KEPT : NO_WEIGHTS;
  const rest = `${percent(coverage * 100)} of the sequences are measured and do not depend on them`;
  return `${name}: ${problem}; ${rest}; ${remedy}`;
}
