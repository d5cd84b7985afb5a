import type { Sequence } from '../../../../plugins/dlbricks/cut/layer-cut.js';

/** The layers or kernels of each sequence in a readable form: "0-2 3 4-5". */
export function written(sequences: readonly Sequence[]): string {
  return sequences.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
}
