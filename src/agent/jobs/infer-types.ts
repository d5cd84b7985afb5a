import { joinedBlocks } from '../../base/joined-blocks.js';
import type { Benchmark } from '../../measurement/benchmark.js';
import { AS_IT_IS } from '../../measurement/as-it-is.js';
import { modelFromBenchmark } from '../../measurement/weightless.js';
import { hoistSubgraphWeights } from '../../onnx/layers/hoist-subgraph-weights.js';
import { type InferredValue, unknownValues } from '../../onnx/layers/layer-graph.js';
import { MAX_LISTED_VALUES, type TensorType } from '../../onnx/model/model.js';
import { readModel } from '../../onnx/read/read-model.js';
import { tensorBlocks } from '../../onnx/write/write-model.js';
import { steeringNames } from '../../onnx/operators/steering-values.js';
import { makeFeeds, withEveryValueAsOutput, withShapesAsOutputs } from '../../predictor/materialize.js';
import type { Predictor } from '../../predictor/predictor.js';
import { shapedValue } from '../../predictor/crossing-values.js';
import { ELEMENT_TYPES, elementCount, tensorBytes } from '../../onnx/model/element-type.js';
import { elementsOf, type TensorValue } from '../../predictor/tensor-value.js';
import type { InferTypesJob } from './job.js';
import { openBenchmark, type OpenContext, runOpened } from './open-benchmark.js';

/** Largest integer or boolean value whose content is returned: enough for shapes, axes and sizes. */
const CONTENT_ELEMENTS = 1024;

/** Largest other value: some graphs compute sizes in floats, one for each dimension. */
const OTHER_CONTENT_ELEMENTS = 16;

function findValueRange(value: TensorValue): { readonly minimum: bigint; readonly maximum: bigint } | undefined {
  const elements = elementsOf(value);
  const [first] = elements;
  if (first === undefined) return undefined;
  let minimum: number | bigint = first;
  let maximum: number | bigint = first;
  for (const element of elements) {
    if (element < minimum) minimum = element;
    if (element > maximum) maximum = element;
  }
  return { minimum: BigInt(minimum), maximum: BigInt(maximum) };
}

/** @param steers whether its content is returned at any size up to the limit of a list */
function describeInferredValue(value: TensorValue, steers = false): InferredValue {
  const { elementType, dims, bytes } = value;
  if (elementType === 'string') return { elementType, dims };
  const { kind, bits } = ELEMENT_TYPES[elementType];
  const mayCount = kind === 'integer' || kind === 'boolean';
  const most = steers ? MAX_LISTED_VALUES : mayCount ? CONTENT_ELEMENTS : OTHER_CONTENT_ELEMENTS;
  // A copy, so that the runtime's buffer can be freed.
  if (elementCount(dims) <= most) return { elementType, dims, content: new Uint8Array(bytes) };
  if (!mayCount || kind === 'boolean' || bits < 8) return { elementType, dims };
  return { elementType, dims, ...findValueRange(value) };
}

/** Largest content of all steering values together; a message cannot hold much more. */
const MAX_STEERING_BYTES = 32 * 2 ** 20;

function namesToKeep(benchmark: Benchmark): ReadonlySet<string> {
  const { nodes, initializers } = modelFromBenchmark(benchmark, 'graph').graph;
  return new Set(
    nodes.flatMap(steeringNames).filter((name) => (initializers.get(name)?.data.kind ?? 'fill') === 'fill'),
  );
}

async function givenValues(
  benchmark: Benchmark,
  steering: ReadonlySet<string>,
): Promise<ReadonlyMap<string, TensorValue>> {
  const { weights } = benchmark;
  const { graph } =
    weights === undefined ? modelFromBenchmark(benchmark, 'graph') : hoistSubgraphWeights(await readModel(weights));
  const values = new Map([...makeFeeds(benchmark)].filter(([name]) => steering.has(name)));
  for (const name of steering) {
    const tensor = graph.initializers.get(name);
    if (tensor === undefined || elementCount(tensor.dims) > MAX_LISTED_VALUES) continue;
    const { elementType, dims } = tensor;
    values.set(name, { elementType, dims, bytes: joinedBlocks(tensorBlocks(tensor), tensorBytes(tensor)) });
  }
  return values;
}

function valuesOfRun(
  values: ReadonlyMap<string, TensorValue>,
  steering: ReadonlySet<string>,
): ReadonlyMap<string, InferredValue> {
  let left = MAX_STEERING_BYTES;
  return new Map(
    [...values].map(([output, value]) => {
      const shaped = shapedValue(output);
      if (shaped !== undefined) {
        return [shaped.name, { elementType: shaped.elementType, dims: Array.from(elementsOf(value), Number) }];
      }
      const fits = steering.has(output) && value.bytes.length <= left;
      if (fits) left -= value.bytes.length;
      return [output, describeInferredValue(value, fits)];
    }),
  );
}

/** A binding returns no dimensions for values of unknown rank, as for scalars; only a scalar's shape has 0 elements. */
async function withoutUnranked(
  types: ReadonlyMap<string, TensorType>,
  benchmark: Benchmark,
  inferStaticTypes: NonNullable<Predictor['inferStaticTypes']>,
): Promise<ReadonlyMap<string, TensorType>> {
  const scalars = new Map([...types].filter(([, { dims }]) => dims.length === 0));
  if (scalars.size === 0) return types;
  const shapes = await inferStaticTypes(withShapesAsOutputs(benchmark, scalars));
  const known = new Set([...shapes].flatMap(([output, { dims }]) => (dims[0] === 0 ? shapedValue(output)?.name : [])));
  return new Map([...types].filter(([name]) => !scalars.has(name) || known.has(name)));
}

async function inferStatically(
  benchmark: Benchmark,
  { predictor }: OpenContext,
): Promise<ReadonlyMap<string, InferredValue> | undefined> {
  const { types, contents } = unknownValues(modelFromBenchmark(benchmark, 'graph'));
  if (contents.length > 0) return undefined;
  const { inferStaticTypes } = predictor;
  if (inferStaticTypes === undefined) return undefined;
  // A runtime may refuse a graph without weights although it accepts the graph with weights.
  const found = await inferStaticTypes(withEveryValueAsOutput(benchmark))
    .then((inferred) => withoutUnranked(inferred, benchmark, inferStaticTypes))
    .catch(() => undefined);
  return types.every((name) => found?.has(name)) ? found : undefined;
}

/**
 * Where the graph alone does not tell the types, or content is asked for, the runtime runs the graph once, unoptimized.
 *
 * @throws PlatformError `unsupported` where the runtime refuses the graph, `model` where running it fails
 */
export async function inferTypes(
  { benchmark, memoryLimitBytes, steeringValues = false }: Omit<InferTypesJob, 'kind'>,
  context: OpenContext,
): Promise<ReadonlyMap<string, InferredValue>> {
  const steering = steeringValues ? namesToKeep(benchmark) : new Set<string>();
  const known = steering.size === 0 ? await inferStatically(benchmark, context) : undefined;
  if (known !== undefined) return known;
  // Without optimization, no node is fused or folded away, so every value exists.
  const request = { benchmark, runOptions: AS_IT_IS, memoryLimitBytes };
  const open = () => openBenchmark(request, context, { everyValueIsOutput: true });
  return runOpened(open, async (opened) => {
    const values = await opened.evaluate();
    const given = steering.size === 0 ? [] : await givenValues(benchmark, steering);
    return valuesOfRun(new Map([...values, ...given]), steering);
  });
}
