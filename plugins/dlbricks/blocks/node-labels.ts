import { type Model, sortedAttributes, steeringConstants } from '../../../src/plugin-api.js';

function plain(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** Two nodes have the same label where they do the same with values of the same types, wherever these come from. */
export function nodeLabels({ nodes, initializers, inputs, types }: Model['graph']): readonly number[] {
  const steering = steeringConstants({ nodes, initializers });
  const fed = new Set(inputs);
  const typeOf = (name: string): string => {
    const type = types.get(name);
    return type === undefined ? 'unknown' : `${type.elementType}[${type.dims?.join() ?? '?'}]`;
  };
  const kindOf = (name: string): string => {
    if (name === '') return 'absent';
    const constant = initializers.get(name);
    if (constant === undefined) return `${fed.has(name) ? 'fed' : 'made'} ${typeOf(name)}`;
    const { elementType, dims, data } = constant;
    const content = steering.has(name) ? JSON.stringify(data, plain) : '';
    return `constant ${elementType}[${dims.join()}] ${content}`;
  };
  const numbers = new Map<string, number>();
  return nodes.map((node) => {
    const does = [node.domain, node.opType, JSON.stringify(sortedAttributes(node.attributes), plain)];
    const label = [...does, ...node.inputs.map(kindOf), '->', ...node.outputs.map(typeOf)].join('\n');
    const number = numbers.get(label) ?? numbers.size;
    numbers.set(label, number);
    return number;
  });
}
