import type { Node } from './model.js';

const LONGEST_SHOWN = 120;

/** A name from a file as messages show it: control characters escaped, cut where it is endless. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name);
}

/** How messages call a node: by its name, or where it has none by its first output. */
export function nodeLabel({ name, opType, outputs }: Pick<Node, 'name' | 'opType' | 'outputs'>): string {
  return name === ''
    ? `the node that makes ${quoted(outputs[0] ?? '')} (${opType})`
    : `node ${quoted(name)} (${opType})`;
}

/** A few names for a message; says how many more there are. */
export function listed(names: readonly string[], most = 8): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
