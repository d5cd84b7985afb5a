import { mapSubgraphs, renameSubgraphValues } from '../../../../src/onnx/model/subgraphs.js';
import type { GeneratedModel } from './generated-graph.js';

/**
 * The same model with other names, and in another order wherever the order has no meaning.
 */
export function renamed({ model, inferred }: GeneratedModel): GeneratedModel {
  const { graph } = model;
  const rename = (name: string): string => (name === '' ? '' : `other ${[...name].reverse().join('')}`);
  const renameKeys = <T>(map: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...map].map(([name, item]): [string, T] => [rename(name), item]).reverse());
  return {
    inferred: renameKeys(inferred),
    model: {
      ...model,
      source: 'other file.onnx',
      opsets: new Map([...model.opsets].reverse()),
      graph: {
        name: 'other graph',
        nodes: graph.nodes.map((node) => ({
          ...node,
          name: rename(node.name),
          inputs: node.inputs.map(rename),
          outputs: node.outputs.map(rename),
          attributes: node.attributes
            .map((attribute) => ({ ...renameSubgraphValues(attribute, rename), docString: 'other words' }))
            .map((attribute) => mapSubgraphs(attribute, (inner) => ({ ...inner, docString: 'other words' })))
            .reverse(),
        })),
        inputs: graph.inputs.map(rename),
        outputs: graph.outputs.map(rename),
        initializers: renameKeys(graph.initializers),
        types: renameKeys(graph.types),
      },
    },
  };
}
