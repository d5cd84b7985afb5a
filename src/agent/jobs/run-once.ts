import { createHash } from 'node:crypto';
import { ELEMENT_TYPES, isPacked } from '../../onnx/model/element-type.js';
import { returnedValue, shapedValue } from '../../predictor/crossing-values.js';
import type { TensorValue } from '../../predictor/tensor-value.js';
import { numbersOf } from '../../processing/element-part.js';
import { buildRefusal } from '../failure.js';
import { FIRST_ELEMENTS, MAX_ELEMENTS, type RunValue } from '../run-value.js';
import type { RunOnceJob } from './job.js';
import { type OpenBenchmark, openBenchmark, type OpenContext } from './open-benchmark.js';

/** Elements of all values together that an answer has: 16 MiB. */
const MAX_TOTAL = 2 ** 21;

function describeRunValue(value: TensorValue, most: number): RunValue {
  const { elementType, dims, bytes } = value;
  const numbers = numbersOf(value);
  let squares = 0;
  let notFinite = 0;
  for (const number of numbers) {
    if (Number.isFinite(number)) squares += number * number;
    else notFinite++;
  }
  const stride = most === 0 ? 1 : Math.max(1, Math.ceil(numbers.length / most));
  const elements =
    most === 0 ? [] : Array.from({ length: Math.ceil(numbers.length / stride) }, (_, i) => numbers[i * stride] ?? 0);
  return {
    elementType,
    dims,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    norm: Math.sqrt(squares),
    notFinite,
    first: [...numbers.subarray(0, FIRST_ELEMENTS)],
    elements,
    stride,
  };
}

/** @throws PlatformError `unsupported` where the runtime refuses the graph, `model` where running it fails */
export async function runOnce(
  { everyValue, elements, ...request }: RunOnceJob,
  context: OpenContext,
): Promise<ReadonlyMap<string, RunValue>> {
  let open: OpenBenchmark;
  try {
    open = await openBenchmark(request, context, everyValue ? { everyValueIsOutput: true } : {});
  } catch (error) {
    throw buildRefusal(error, 'open');
  }
  try {
    const all = await open.evaluate();
    const described = [...all].filter(([name, { elementType }]) => {
      return shapedValue(name) === undefined && ELEMENT_TYPES[elementType].kind !== 'string' && !isPacked(elementType);
    });
    const most = Math.min(elements, MAX_ELEMENTS, Math.floor(MAX_TOTAL / Math.max(1, described.length)));
    return new Map(described.map(([name, value]) => [returnedValue(name), describeRunValue(value, most)]));
  } catch (error) {
    throw buildRefusal(error, 'run');
  } finally {
    await open.close();
  }
}
