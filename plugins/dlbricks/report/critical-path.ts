import { type DrawnGraph, formatMs, sumOf, UNKNOWN } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { Estimate, PlacedSequence } from '../estimate/compose.js';
import type { ModelReport } from './report-schema.js';

export function kernelsText(kernels: readonly string[] | null | undefined): string | undefined {
  const names = (kernels ?? []).filter((name) => name !== '');
  return names.length === 0 ? undefined : names.join(', ');
}

export function buildCriticalPath({ longestPath, placed }: Estimate): ModelReport['critical_path'] {
  return longestPath.flatMap((sequence) => {
    const at = placed[sequence];
    if (at === undefined) return [];
    const { kernels, operators, ms = null, isPredicted } = at;
    const names = kernels === undefined ? null : [...kernels];
    return [{ sequence, kernels: names, operators: [...operators], latency_ms: ms, is_predicted: isPredicted }];
  });
}

function timeText({ ms, isPredicted }: PlacedSequence): string {
  return ms === undefined ? UNKNOWN : `${formatMs(ms)} ms${isPredicted ? ', predicted' : ''}`;
}

/** Sums of floating-point numbers are not exact, and less is shown as 0. */
const ROUNDING_MS = 0.0005;

export function drawnEstimate(
  { longestPath, placed, edges, sequential, parallel }: Estimate,
  name: string,
): DrawnGraph {
  const onPath = new Set(longestPath);
  const [all, path] = [sequential, parallel].map((sum) => (sum === undefined ? UNKNOWN : `${formatMs(sum.ms)} ms`));
  const callMs = (sequential?.ms ?? 0) - sumOf(placed.map(({ ms = 0 }) => ms));
  const call = callMs > ROUNDING_MS ? `; both include ${formatMs(callMs)} ms for the call, which is not drawn` : '';
  return {
    title: `${name}: ${path} along the longest path, ${all} in all${call}`,
    nodes: placed.map((sequence, index) => {
      const label = operatorsLabel(sequence.operators);
      const names = kernelsText(sequence.kernels);
      return {
        name: names ?? label,
        detail: `${names === undefined ? '' : `${label}, `}${timeText(sequence)}`,
        isMarked: onPath.has(index),
      };
    }),
    edges,
  };
}
