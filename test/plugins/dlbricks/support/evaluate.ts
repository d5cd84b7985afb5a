import assert from 'node:assert/strict';
import { evaluateAll } from '../../../../plugins/dlbricks/evaluate.js';
import type { EstimateRequest } from '../../../../plugins/dlbricks/system-run.js';
import type { EstimateResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import type { MeasuringContext } from '../../../../src/measuring/measuring.js';

/** Evaluates one request. */
export async function evaluate(request: EstimateRequest, context: MeasuringContext): Promise<EstimateResult> {
  const [result] = await evaluateAll([request], context);
  assert.ok(result !== undefined);
  return result;
}
