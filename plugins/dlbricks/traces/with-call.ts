import { CALL } from './timed-estimate.js';
import type { Target, TraceBook, TraceSequence } from './trace-book.js';

function isCall({ layers }: TraceSequence): boolean {
  return layers[0]?.operator === CALL;
}

/** Equal for models of the same sequences in any order. */
function formatContent({ sequences }: Target): string {
  const identities = sequences.filter((sequence) => !isCall(sequence)).map(({ identity }) => identity);
  return JSON.stringify(identities.sort());
}

/** Adds the call that `--trace-out` wrote with an estimate from the same bricks: no signature or shape finds it. */
export function withCall(target: Target, { targets }: TraceBook): Target {
  const content = formatContent(target);
  const twin = targets.find((traced) => traced.sequences.some(isCall) && formatContent(traced) === content);
  const call = twin?.sequences.find(isCall);
  if (twin === undefined || call === undefined) return target;
  const end = target.sequences.length;
  return {
    ...target,
    sequences: [...target.sequences, { ...call, of: twin.name }],
    edges: target.edges && [...target.edges, ...target.sequences.map((_sequence, i): [number, number] => [i, end])],
  };
}
