import type { WrittenModel } from './chrome-trace.js';
import type { TracedSum } from './estimate-from-traces.js';
import type { LayerFacts } from '../work/layer-facts.js';

function shapesOf(tensors: LayerFacts['inputs']): readonly (readonly number[])[] | undefined {
  return tensors?.map(({ dims }) => dims);
}

/** Element types in the order of {@link shapesOf}, separated by semicolons. */
function typesOf(tensors: LayerFacts['inputs']): string | undefined {
  return tensors?.map(({ elementType = '' }) => elementType).join(';');
}

/**
 * An estimate from traces as a trace. Missing sequences have no event. Sequences of several layers have only their
 * operators.
 */
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
        input_shapes: shapesOf(inputs),
        output_shapes: shapesOf(outputs),
        input_types: typesOf(inputs),
        output_types: typesOf(outputs),
        operations,
        bytes,
      };
      return [{ name, operator, ms, tags }];
    }),
  };
}
