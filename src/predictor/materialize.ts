import { PlatformError, messageOf } from '../base/errors.js';
import { joinedBlocks } from '../base/joined-blocks.js';
import { type GraphProto, ModelProto } from '../generated/onnx/onnx.js';
import type { Benchmark, BenchmarkInput } from '../measurement/benchmark.js';
import { elementCount, tensorBytes } from '../onnx/model/element-type.js';
import { externalTensorIn } from '../onnx/bytes/external-tensor.js';
import { fillBlocks } from '../onnx/values/fill.js';
import type { TensorData, TensorType } from '../onnx/model/model.js';
import { isStandard } from '../onnx/model/opsets.js';
import { fileBlocks } from '../onnx/write/write-model.js';
import { fedName, isFedAsFloat, returnShape, withCrossingEnds } from './crossing-values.js';
import type { TensorValue } from './tensor-value.js';

export interface FillableModel {
  readonly graph: Uint8Array;
  readonly weights: readonly FillableWeight[];
  readonly path?: string;
}

export interface FillableWeight extends BenchmarkInput {
  readonly data?: Extract<TensorData, { readonly kind: 'file' }>;
}

export interface MaterializeOptions {
  readonly everyValueIsOutput?: boolean;
}

const WORDS = (
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was ' +
  'will with Amsterdam machine learning Model layer tensor latency benchmark 2026 3.14 e-mail international'
).split(' ');

function words(count: number, seed: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => WORDS[(seed * 7 + at * 5) % WORDS.length] ?? '');
}

function nameOf(benchmark: Benchmark): string {
  return `benchmark ${benchmark.signature.slice(0, 12)}`;
}

function decode(benchmark: Benchmark): ModelProto & { graph: GraphProto } {
  let model: ModelProto;
  try {
    model = ModelProto.decode(benchmark.model);
  } catch (cause) {
    const message = `${nameOf(benchmark)}: its model is not an ONNX file (${messageOf(cause)})`;
    throw new PlatformError('usage', message, { cause });
  }
  if (model.graph === undefined) {
    throw new PlatformError('usage', `${nameOf(benchmark)}: its model is not an ONNX file (it has no graph)`);
  }
  return { ...model, graph: model.graph };
}

/** Benchmarks are untrusted, and a runtime reads any file on this machine that a model names. */
function refuseExternalData(benchmark: Benchmark, model: ModelProto): void {
  const place = externalTensorIn(model);
  if (place === undefined) return;
  const problem = `its model keeps the values of a tensor in another file (${place})`;
  throw new PlatformError('usage', `${nameOf(benchmark)}: ${problem}; put them into the model, or leave weights out`);
}

function checkInputs(benchmark: Benchmark, graph: GraphProto): void {
  const given = new Set(benchmark.inputs.map(({ name }) => name));
  const asked = new Set(graph.input.map(({ name }) => name));
  const missing = [...asked].filter((name) => !given.has(name));
  const unknown = [...given].filter((name) => !asked.has(name));
  if (missing.length === 0 && unknown.length === 0) return;
  const problems = [
    ...missing.slice(0, 3).map((name) => `the fill of the graph's input ${name} is missing`),
    ...unknown.slice(0, 3).map((name) => `the graph has no input ${name}`),
  ];
  throw new PlatformError('usage', `${nameOf(benchmark)}: ${problems.join('; ')}`);
}

function exposeEveryValue(graph: GraphProto): GraphProto {
  const exposed = new Set(graph.output.map(({ name }) => name));
  const output = [...graph.output];
  for (const name of graph.node.flatMap((node) => node.output)) {
    if (name === '' || exposed.has(name)) continue;
    exposed.add(name);
    output.push({ name, type: undefined, docString: '' });
  }
  return { ...graph, output };
}

/**
 * Takes the weights out of a benchmark's inputs; encode-weights.ts adds them as initializers.
 *
 * @throws PlatformError `usage` for an invalid model, one that needs other files, or other inputs than the benchmark's;
 *   `unsupported` for weights that are strings
 */
export function materialize(
  benchmark: Benchmark,
  { everyValueIsOutput = false }: MaterializeOptions = {},
): FillableModel {
  const model = decode(benchmark);
  refuseExternalData(benchmark, model);
  checkInputs(benchmark, model.graph);
  const strings = benchmark.inputs.find(({ elementType, role }) => elementType === 'string' && role === 'weight');
  if (strings !== undefined) {
    throw new PlatformError('unsupported', `${nameOf(benchmark)}: no strings can be made up for input ${strings.name}`);
  }
  const weights = benchmark.inputs.filter(({ role }) => role === 'weight');
  const names = new Set(weights.map(({ name }) => name));
  const rest: GraphProto = { ...model.graph, input: model.graph.input.filter(({ name }) => !names.has(name)) };
  return { graph: encodeWithEnds({ ...model, graph: rest }, benchmark, { everyValueIsOutput }), weights };
}

function encodeWithEnds(
  { graph, ...model }: ModelProto & { graph: GraphProto },
  { inputs }: Benchmark,
  { everyValueIsOutput = false }: MaterializeOptions,
): Uint8Array {
  const exposed = everyValueIsOutput ? exposeEveryValue(graph) : graph;
  const ended = withCrossingEnds(exposed, inputs, { shapesOnly: everyValueIsOutput });
  return ModelProto.encode({ ...model, graph: ended }).finish();
}

/** For a model with weights of its own. @throws PlatformError as {@link materialize} */
export function withOutputs(graph: Uint8Array, benchmark: Benchmark, options: MaterializeOptions): Uint8Array {
  return encodeWithEnds(decode({ ...benchmark, model: graph }), benchmark, options);
}

export function withEveryValueAsOutput(benchmark: Benchmark): Uint8Array {
  const model = decode(benchmark);
  return ModelProto.encode({ ...model, graph: exposeEveryValue(model.graph) }).finish();
}

/** Has Shape. */
const ANY_OPSET = { domain: '', version: 13n };

/** Only the shapes of these values are outputs. @throws PlatformError as {@link materialize} */
export function withShapesAsOutputs(benchmark: Benchmark, values: ReadonlyMap<string, TensorType>): Uint8Array {
  const model = decode(benchmark);
  const shapes = [...values].map(([name, { elementType }]) => returnShape(name, elementType));
  const graph = {
    ...model.graph,
    node: [...model.graph.node, ...shapes.flatMap(({ nodes }) => nodes)],
    output: shapes.map(({ name }) => ({ name, type: undefined, docString: '' })),
  };
  const hasStandard = model.opsetImport.some(isStandard);
  const opsetImport = hasStandard ? model.opsetImport : [...model.opsetImport, ANY_OPSET];
  return ModelProto.encode({ ...model, graph, opsetImport }).finish();
}

/** Booleans are 0 or 1 for any range. */
export function inputBlocks({ elementType, dims, fill }: BenchmarkInput): Generator<Uint8Array> {
  const [low, high] = [fill.low, fill.high].map((bound) => Math.min(1, Math.max(0, bound))) as [number, number];
  return fillBlocks(elementType, elementCount(dims), elementType === 'bool' ? { ...fill, low, high } : fill);
}

/** Each block is only valid until the next one is asked for. */
export function weightBlocks(weight: FillableWeight): Iterable<Uint8Array> {
  return weight.data === undefined ? inputBlocks(weight) : fileBlocks(weight.data);
}

function fillTensor(input: BenchmarkInput): TensorValue {
  const { elementType, dims } = input;
  return { elementType, dims, bytes: joinedBlocks(inputBlocks(input), tensorBytes(input)) };
}

export function makeFeeds(benchmark: Benchmark): ReadonlyMap<string, TensorValue> {
  const feeds = new Map<string, TensorValue>();
  for (const input of benchmark.inputs) {
    if (input.role !== 'activation') continue;
    const { name, elementType, dims, fill } = input;
    if (elementType === 'string') {
      feeds.set(name, { elementType, dims, bytes: new Uint8Array(), strings: words(elementCount(dims), fill.seed) });
    } else if (isFedAsFloat(input)) feeds.set(fedName(input), fillTensor({ ...input, elementType: 'float32' }));
    else feeds.set(name, fillTensor(input));
  }
  return feeds;
}
