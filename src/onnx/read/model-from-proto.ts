import type { GraphProto, ModelProto, NodeProto } from '../../generated/onnx/onnx.js';
import { PlatformError } from '../../base/errors.js';
import { loadAttributes } from './attributes.js';
import { constantTensor, isConstant } from './constant-node.js';
import { readType, tensorTypes } from '../model/declared-type.js';
import { FunctionTable } from '../functions/function-table.js';
import { inlineFunctions } from '../functions/inline-functions.js';
import type { DeclaredType, Model } from '../model/model.js';
import { convertNode } from '../model/nested-nodes.js';
import { checkedIrVersion, importedOpsets, opsetsInUse } from '../model/opsets.js';
import { liveNodes, orderNodes } from '../model/order-nodes.js';
import { quoted } from '../../base/quoted.js';
import type { Steps } from '../../base/steps.js';
import { nodeLabel } from '../model/node-label.js';
import type { ReadingBudget } from '../bytes/reading-budget.js';
import { withTensorOutput } from './tensor-outputs.js';
import type { TensorReader } from './tensor-reader.js';

/** From this version of the format on, initializers need not be inputs, and here they never are. */
const MIN_IR_VERSION = 4;

/** Inlines functions, drops unused parts except inputs. @throws PlatformError 'model' that names the problem */
export function* modelFromProto(proto: ModelProto, tensors: TensorReader, budget: ReadingBudget): Steps<Model> {
  yield;
  const source = tensors.source.name;
  if (proto.graph === undefined || proto.irVersion <= 0n) {
    throw new PlatformError('model', `${source} holds no graph: it is no ONNX model, or truncated. Export it again.`);
  }
  const graph = withTensorOutput(proto.graph, source);
  const irVersion = checkedIrVersion(proto.irVersion, source);
  const imports = importedOpsets(proto.opsetImport, source);
  const functions = new FunctionTable(proto.functions, source);
  const stored = yield* inlineFunctions(functions, graph, imports, budget);
  const opsets = opsetsInUse(imports, stored, source);

  const constants = constantTensors(graph, stored, tensors);
  const inputs = graphInputs(graph, source);
  const outputs = graphOutputs(graph, source);
  yield;
  const ordered = orderNodes({
    nodes: stored.filter((node) => !isConstant(node)).map(convertNode),
    given: [...inputs.keys(), ...constants.map(({ name }) => name)],
    outputs,
    source,
  });
  yield;
  const { nodes, used } = liveNodes(ordered, outputs);
  const made = new Set(nodes.flatMap((node) => node.outputs));
  const intermediate = graph.valueInfo.filter(({ name }) => made.has(name));
  return {
    source,
    irVersion: Math.max(irVersion, MIN_IR_VERSION),
    opsets,
    graph: {
      name: graph.name,
      nodes: nodes.map((node) => ({
        ...node,
        attributes: loadAttributes(node.attributes, nodeLabel(node), tensors),
      })),
      inputs: [...inputs.keys()],
      outputs,
      initializers: new Map(constants.filter(({ name }) => used.has(name)).map(({ name, make }) => [name, make()])),
      types: new Map([...tensorTypes([...graph.output, ...intermediate]), ...inputs]),
    },
  };
}

/** Initializers and Constant nodes, in the file's order; without a name, nothing can read them. */
function constantTensors(graph: GraphProto, nodes: readonly NodeProto[], tensors: TensorReader) {
  const [sparse] = graph.sparseInitializer;
  if (sparse !== undefined) {
    const name = quoted(sparse.values?.name ?? '');
    const advice = 'Export the model with dense weights.';
    throw new PlatformError(
      'model',
      `${tensors.source.name}: initializer ${name} is sparse, which is not supported. ${advice}`,
    );
  }
  const initializers = graph.initializer.map((tensor) => ({
    name: tensor.name,
    make: () => tensors.read(tensor, `initializer ${quoted(tensor.name)}`),
  }));
  const values = nodes.filter(isConstant).map((node) => ({
    name: node.output[0] ?? '',
    make: () => constantTensor(node, tensors),
  }));
  return [...initializers, ...values].filter(({ name }) => name !== '');
}

/** The values that a caller feeds: the graph's inputs without its initializers, which older files list as well. */
function graphInputs(graph: GraphProto, source: string): ReadonlyMap<string, DeclaredType> {
  const initialized = new Set(graph.initializer.map(({ name }) => name));
  const inputs = new Map<string, DeclaredType>();
  for (const { name, type: proto } of graph.input) {
    if (initialized.has(name)) continue;
    const reading = readType(proto);
    if (name === '' || inputs.has(name) || reading.type === undefined) {
      const problem = reading.type === undefined ? `is ${reading.insteadOf}` : 'has no name of its own';
      throw new PlatformError(
        'model',
        `${source}: input ${quoted(name)} ${problem}. Export the model again, with tensors of supported types as inputs.`,
      );
    }
    inputs.set(name, reading.type);
  }
  return inputs;
}

function graphOutputs(graph: GraphProto, source: string): readonly string[] {
  const outputs = graph.output.map(({ name }) => name);
  if (outputs.length > 0 && new Set(outputs).size === outputs.length) return outputs;
  const problem = outputs.length === 0 ? 'has no output' : 'lists an output twice';
  throw new PlatformError('model', `${source}: the graph ${problem}. Export the model again.`);
}
