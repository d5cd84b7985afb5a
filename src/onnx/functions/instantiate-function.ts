import type { AttributeProto, FunctionProto, GraphProto, NodeProto } from '../../generated/onnx/onnx.js';
import { counted } from '../../base/counted.js';
import { quoted } from '../../base/quoted.js';
import { mapSubgraphs, renameSubgraphValues } from '../model/subgraphs.js';

/**
 * A function's body for a call: formal names become the call's, others unique by the prefix, parameters the call's
 * attributes or defaults, or nothing. Source: FunctionProto and AttributeProto.ref_attr_name in ONNX's onnx.proto.
 *
 * @returns the nodes, or why the call is impossible, in words that follow the function's name
 */
export function instantiate(fn: FunctionProto, call: NodeProto, prefix: string): readonly NodeProto[] | string {
  if (call.input.length > fn.input.length) {
    return `takes ${counted(fn.input.length, 'input')}, but is called with ${call.input.length}`;
  }
  if (call.output.length > fn.output.length) {
    return `has ${counted(fn.output.length, 'output')}, but is called for ${call.output.length}`;
  }
  const formals = [...fn.input, ...fn.output];
  if (new Set(formals).size < formals.length) return 'has two inputs or outputs of the same name';
  const actuals = new Map(fn.input.map((name, i) => [name, call.input[i] ?? '']));
  fn.output.forEach((name, i) => {
    const actual = call.output[i] ?? '';
    if (actual !== '') actuals.set(name, actual);
  });
  const made = new Set(fn.node.flatMap(({ output }) => output));
  const missing = fn.output.find((name) => !made.has(name));
  if (missing !== undefined) return `has no node that makes its output ${quoted(missing)}`;

  const rename = (name: string): string => (name === '' ? '' : (actuals.get(name) ?? prefix + name));
  const parameters = new Map([...fn.attributeProto, ...call.attribute].map((attribute) => [attribute.name, attribute]));
  const resolve = (attribute: AttributeProto): AttributeProto[] => {
    const given = attribute.refAttrName === '' ? attribute : parameters.get(attribute.refAttrName);
    if (given === undefined) return [];
    return given === attribute ? [mapSubgraphs(attribute, resolveGraph)] : [{ ...given, name: attribute.name }];
  };
  const resolveGraph = (graph: GraphProto): GraphProto => ({
    ...graph,
    node: graph.node.map((node) => ({ ...node, attribute: node.attribute.flatMap(resolve) })),
  });
  // The value of a parameter has the caller's names, so it is inserted after the renaming.
  const instantiateNode = (node: NodeProto): NodeProto => ({
    ...node,
    name: node.name === '' ? '' : prefix + node.name,
    input: node.input.map(rename),
    output: node.output.map(rename),
    attribute: node.attribute.map((attribute) => renameSubgraphValues(attribute, rename)).flatMap(resolve),
  });
  return fn.node.map(instantiateNode);
}
