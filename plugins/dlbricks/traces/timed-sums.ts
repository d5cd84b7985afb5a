import type { WrittenModel } from './chrome-trace.js';
import type { TracedSum } from './estimate-from-traces.js';
import type { LayerFacts } from '../work/layer-facts.js';

function listShapes(tensors: LayerFacts['inputs']): readonly (readonly number[])[] | undefined {
  return tensors?.map(({ dims }) => dims);
}

/** Element types in the order of {@link listShapes}, separated by semicolons. */
function formatTypes(tensors: LayerFacts['inputs']): string | undefined {
  return tensors?.map(({ elementType = '' }) => elementType).join(';');
}

/** Missing sequences have no event. Sequences of several layers have only their operators. */
export function timedSum({ target, parts }: TracedSum, system: string): WrittenModel {
  return {
    name: target.name,
    system,
    title: 'estimate from traces',
    wholeMs: target.wholeMs,
    parts: parts.flatMap(({ sequence, ms, foundBy }) => {
      if (ms === undefined) return [];
      const { layers, name } = sequence;
      const [first, second] = layers;
      const operator = layers.map((layer) => layer.operator).join('+');
      if (first === undefined || second !== undefined) return [{ name, operator, ms, tags: { found_by: foundBy } }];
      const { signature, attributes, inputs, outputs, operations, bytes } = first;
      const tags = {
        found_by: foundBy,
        signature,
        attributes,
        input_shapes: listShapes(inputs),
        output_shapes: listShapes(outputs),
        input_types: formatTypes(inputs),
        output_types: formatTypes(outputs),
        operations,
        bytes,
      };
      return [{ name, operator, ms, tags }];
    }),
  };
}
