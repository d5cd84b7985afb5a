import { sha256Of } from '../../base/sha256.js';
import { ELEMENT_TYPES, isPacked } from '../../onnx/model/element-type.js';
import { returnedValue, shapedValue } from '../../predictor/crossing-values.js';
import type { TensorValue } from '../../predictor/tensor-value.js';
import { numbersOf } from '../../processing/element-part.js';
import { FIRST_ELEMENTS, MAX_ELEMENTS, type RunValue } from '../run-value.js';
import type { RunOnceJob } from './job.js';
import { openBenchmark, type OpenContext, runOpened } from './open-benchmark.js';

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
    sha256: sha256Of(bytes),
    norm: Math.sqrt(squares),
    notFinite,
    first: [...numbers.subarray(0, FIRST_ELEMENTS)],
    elements,
    stride,
  };
}

function describeValues(all: ReadonlyMap<string, TensorValue>, elements: number): ReadonlyMap<string, RunValue> {
  const described = [...all].filter(([name, { elementType }]) => {
    return shapedValue(name) === undefined && ELEMENT_TYPES[elementType].kind !== 'string' && !isPacked(elementType);
  });
  const most = Math.min(elements, MAX_ELEMENTS, Math.floor(MAX_TOTAL / Math.max(1, described.length)));
  return new Map(described.map(([name, value]) => [returnedValue(name), describeRunValue(value, most)]));
}

/** @throws PlatformError `unsupported` where the runtime refuses the graph, `model` where running it fails */
export async function runOnce(
  { everyValue, elements, ...request }: RunOnceJob,
  context: OpenContext,
): Promise<ReadonlyMap<string, RunValue>> {
  const open = () => openBenchmark(request, context, { everyValueIsOutput: everyValue });
  return runOpened(open, async (opened) => describeValues(await opened.evaluate(), elements));
}
