import { stackText, type System, toSystemDocument } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { ModelResult } from '../report/evaluation-result.js';
import { wholeLatency } from '../report/whole-latency.js';
import type { WrittenModel, TimedPart } from './chrome-trace.js';

/** Stands for an operator where a run's call is timed. */
export const CALL = '(empty call)';

/** A difference between a sum and its parts below this is a rounding error. */
const MIN_CALL_MS = 1e-6;

/** A system's name in traces: the same text for measurements that may be mixed. */
export function systemName(system: System): string {
  return `${stackText(toSystemDocument(system))}, ${system.fingerprint.slice(0, 12)}`;
}

/** Each brick as often as the model has it, and the call of a run. Missing bricks have no event. */
export function timedEstimate({ estimate, endToEnd }: ModelResult, system: System): WrittenModel {
  const bricks = estimate.parts.flatMap(
    ({ signature, operators, count, prediction, ms = prediction?.ms }): TimedPart[] => {
      if (ms === undefined) return [];
      const part = { name: operatorsLabel(operators), operator: operators.join('+'), ms, tags: { signature } };
      return Array.from({ length: count }, () => part);
    },
  );
  const callMs = (estimate.sequential?.ms ?? 0) - bricks.reduce((sum, { ms }) => sum + ms, 0);
  const call = { name: 'call', operator: CALL, ms: callMs, tags: {} };
  return {
    name: estimate.name,
    system: systemName(system),
    title: 'estimate from bricks',
    wholeMs: wholeLatency(endToEnd) ?? undefined,
    parts: callMs > MIN_CALL_MS ? [...bricks, call] : bricks,
  };
}
