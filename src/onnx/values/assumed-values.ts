import { shellQuoted } from '../../base/shell-quoted.js';
import { quoted } from '../../base/quoted.js';
import { ELEMENT_TYPES } from '../model/element-type.js';
import { fillRange, type TypedGraph, typedGraph } from './fill-range.js';
import type { InputValues, Model } from '../model/model.js';
import { listed } from '../model/node-label.js';
import { findStaticType } from '../model/static-type.js';

const MAX_SHOWN = 8;

function shown({ low, high, list }: InputValues): string {
  if (list !== undefined) return `${list.slice(0, MAX_SHOWN).join(', ')}${list.length > MAX_SHOWN ? ', ...' : ''}`;
  return low === high ? `${low}` : `${low} to ${high}`;
}

export interface AssumedInput {
  readonly name: string;
  readonly values: string;
}

/** Such a mask of floats is made up of small numbers, which hide nothing. */
function isAddedBeforeSoftmax({ uses }: TypedGraph, name: string): boolean {
  const readers = (of: string) => (uses.get(of) ?? []).map(({ node }) => node);
  const sums = readers(name).filter(({ opType }) => opType === 'Add');
  return sums.some(({ outputs: [sum = ''] }) => readers(sum).some(({ opType }) => opType === 'Softmax'));
}

/** Assumed values of inputs that may decide what the model computes: masks, indices, lengths, sizes, boxes. */
export function assumedInputs({ graph }: Model): readonly AssumedInput[] {
  const typed = typedGraph(graph);
  return graph.inputs.flatMap((name) => {
    const type = findStaticType(graph.types.get(name));
    if (type === undefined || graph.given?.has(name) === true) return [];
    const values = fillRange(typed, name, type);
    const { kind } = ELEMENT_TYPES[type.elementType];
    if (kind === 'string') return [{ name, values: 'words' }];
    const isSame = values.list !== undefined || values.low === values.high;
    const decides = kind !== 'float' || isSame || isAddedBeforeSoftmax(typed, name);
    return decides ? [{ name, values: kind === 'boolean' && values.low === 1 ? 'true' : shown(values) }] : [];
  });
}

export function assumedSentence(assumed: readonly AssumedInput[]): string | undefined {
  const [first] = assumed;
  if (first === undefined) return undefined;
  const list = listed(assumed.map(({ name, values }) => `${quoted(name)} ${values}`));
  const option = `--input ${shellQuoted(`${first.name}=VALUE`)}`;
  return `the values of inputs are assumed: ${list}; give others with ${option}, or \`values\` in the model's manifest`;
}
