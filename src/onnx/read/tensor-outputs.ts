import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';
import { type GraphProto, NodeProto, type TypeProto, type ValueInfoProto } from '../../generated/onnx/onnx.js';
import { ELEMENT_TYPES } from '../model/element-type.js';

type ValueCase = NonNullable<TypeProto['value']>['$case'];

/** Operators that make a small tensor from a value that is not a tensor. */
const SUMMARIES: ReadonlyMap<ValueCase, { readonly opType: string; readonly elementType: 'int64' | 'bool' }> = new Map([
  ['sequenceType', { opType: 'SequenceLength', elementType: 'int64' }],
  ['optionalType', { opType: 'OptionalHasElement', elementType: 'bool' }],
]);

function caseOf({ type }: ValueInfoProto): ValueCase | undefined {
  return type?.value?.$case;
}

/** No operator takes a sequence of maps. */
function isOfMaps(output: ValueInfoProto): boolean {
  const value = output.type?.value;
  return value?.$case === 'sequenceType' && value.value.elemType?.value?.$case === 'mapType';
}

/**
 * Bindings return only tensors, and a run has to return something: a graph without any returns the lengths of its
 * sequences, and whether optional values are present. @throws PlatformError 'model' where that is impossible too
 */
export function withTensorOutput(graph: GraphProto, source: string): GraphProto {
  const isTensor = (output: ValueInfoProto): boolean => (caseOf(output) ?? 'tensorType') === 'tensorType';
  if (graph.output.length === 0 || graph.output.some(isTensor)) return graph;
  const names = new Set(graph.node.flatMap((node) => node.output));
  const summarized = graph.output.flatMap((output): { info: ValueInfoProto; node: NodeProto }[] => {
    const summary = isOfMaps(output) ? undefined : SUMMARIES.get(caseOf(output) ?? 'tensorType');
    if (summary === undefined) return [];
    let name = `${output.name}.summary`;
    while (names.has(name)) name = `${name}_`;
    const elemType = ELEMENT_TYPES[summary.elementType].code;
    const type: TypeProto = {
      denotation: '',
      value: { $case: 'tensorType', value: { elemType, shape: { dim: [] } } },
    };
    const node = { ...NodeProto.create(), opType: summary.opType, input: [output.name], output: [name] };
    return [{ info: { name, docString: '', type }, node }];
  });
  if (summarized.length === 0) {
    const first = quoted(graph.output[0]?.name ?? '');
    throw new PlatformError(
      'model',
      `${source}: none of the graph's outputs is a tensor (${first} is a map or contains maps), and the runtimes return only tensors here. ` +
        'Export the model again, with a tensor as an output; skl2onnx and onnxmltools leave the map out with zipmap=False.',
    );
  }
  return {
    ...graph,
    node: [...graph.node, ...summarized.map(({ node }) => node)],
    output: summarized.map(({ info }) => info),
  };
}
