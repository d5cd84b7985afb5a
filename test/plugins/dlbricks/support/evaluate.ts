import assert from 'node:assert/strict';
import { evaluateAll } from '../../../../plugins/dlbricks/evaluate.js';
import type { EstimateResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import { settingsSchema } from '../../../../plugins/dlbricks/settings.js';
import type { EstimateRequest } from '../../../../plugins/dlbricks/system-run.js';
import type { MeasuringContext } from '../../../../src/measuring/measuring.js';
import type { LoadedModel } from '../../../../src/registry/load-model.js';
import { LIMITS, PROTOCOL } from '../../../store/sample-measurement.js';

/** One thread, and one layer a brick. */
export function requestFor(models: readonly LoadedModel[], changes: Partial<EstimateRequest> = {}): EstimateRequest {
  return {
    settings: settingsSchema.parse({}),
    batch: 1,
    models,
    cut: 'layer',
    granularity: 1,
    runOptions: { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' },
    protocol: PROTOCOL,
    limits: LIMITS,
    readingMs: 0,
    measureEndToEnd: false,
    precision: { targetError: 0.05, repeatLimit: 1, leastRepeatMs: 0 },
    ...changes,
  };
}

/** Evaluates one request. */
export async function evaluate(request: EstimateRequest, context: MeasuringContext): Promise<EstimateResult> {
  const [result] = await evaluateAll([request], context);
  assert.ok(result !== undefined);
  return result;
}
