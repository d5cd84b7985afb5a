import { quoted } from '../../base/quoted.js';
import type { Node } from './model.js';

export function nodeLabel({ name, opType, outputs }: Pick<Node, 'name' | 'opType' | 'outputs'>): string {
  return name === ''
    ? `the node that makes ${quoted(outputs[0] ?? '')} (${opType})`
    : `node ${quoted(name)} (${opType})`;
}

/** A few names for a message, with the number of the others. */
export function listed(names: readonly string[], most = 8): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
