import { type TracedModel, trimmedMean } from '../../../src/plugin-api.js';

export interface Correction {
  readonly model: string;
  readonly source: string;
  readonly factor: number;
  readonly wholeMs: number;
  readonly tracedWholeMs: number;
}

/**
 * It is not known whether the cost of tracing is in the layers or between them, so both are reduced in proportion.
 *
 * @param wholeMs executions of the whole model without layer tracing, from any trace of the same system
 * @returns undefined where one of the two is not known, or tracing cost nothing
 */
export function computeCorrection(
  model: string,
  traced: TracedModel,
  wholeMs: readonly number[],
): Correction | undefined {
  if (wholeMs.length === 0 || traced.tracedWholeMs.length === 0) return undefined;
  const plain = trimmedMean(wholeMs);
  const slower = trimmedMean(traced.tracedWholeMs);
  if (plain >= slower) return undefined;
  return { model, source: traced.source, factor: plain / slower, wholeMs: plain, tracedWholeMs: slower };
}
