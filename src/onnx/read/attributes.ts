import type { AttributeProto, GraphProto, NodeProto } from '../../generated/onnx/onnx.js';
import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';
import { mapSubgraphs } from '../model/subgraphs.js';
import type { TensorReader } from './tensor-reader.js';

/** Subgraphs' too. @throws PlatformError 'model' where one is sparse, a parameter's reference, or too large */
export function loadAttributes(
  attributes: readonly AttributeProto[],
  label: string,
  tensors: TensorReader,
): readonly AttributeProto[] {
  return attributes.map((attribute) => loadAttribute(attribute, label, tensors));
}

function loadAttribute(attribute: AttributeProto, label: string, tensors: TensorReader): AttributeProto {
  const owner = `attribute ${quoted(attribute.name)} of ${label}`;
  const refuse = (problem: string): PlatformError =>
    new PlatformError('model', `${tensors.source.name}: ${owner} ${problem}. Export the model again without it.`);
  if (attribute.refAttrName !== '') {
    throw refuse(`refers to the parameter ${quoted(attribute.refAttrName)} outside of a function`);
  }
  if (attribute.sparseTensor !== undefined || attribute.sparseTensors.length > 0) {
    throw refuse('is a sparse tensor, which is not supported');
  }
  const { t, tensors: list } = attribute;
  const loaded = mapSubgraphs(attribute, (graph) => loadGraph(graph, owner, tensors));
  if (t === undefined && list.length === 0) return loaded;
  return {
    ...loaded,
    t: t === undefined ? undefined : tensors.load(t, owner),
    tensors: list.map((tensor) => tensors.load(tensor, owner)),
  };
}

function loadGraph(graph: GraphProto, owner: string, tensors: TensorReader): GraphProto {
  if (graph.sparseInitializer.length > 0) {
    throw new PlatformError(
      'model',
      `${tensors.source.name}: ${owner} has a sparse initializer, which is not supported. Export the model without it.`,
    );
  }
  return {
    ...graph,
    node: graph.node.map((node): NodeProto => {
      const label = `${quoted(node.name)} (${node.opType}) in ${owner}`;
      return { ...node, attribute: node.attribute.map((attribute) => loadAttribute(attribute, label, tensors)) };
    }),
    // The empty name stands for an absent value, so nothing can read an initializer of this name.
    initializer: graph.initializer
      .filter(({ name }) => name !== '')
      .map((tensor) => ({ ...tensors.load(tensor, `${quoted(tensor.name)} in ${owner}`), name: tensor.name })),
  };
}
