import { optimizerText, optimizingRun } from '../../../src/plugin-api.js';
import type { EstimateResult } from './evaluation-result.js';
import type { Report } from './report-schema.js';

/** Whether kernels run at the same time, so that their sum is not the latency. */
function isOverlapping({ system: { runOptions } }: EstimateResult): boolean {
  return runOptions.executionMode === 'parallel' && (runOptions.interOpThreads ?? 1) > 1;
}

/** The result without intervals where kernels run at the same time: nothing says how much they slow each other down. */
export function withoutUnknownIntervals(result: EstimateResult): EstimateResult {
  if (!isOverlapping(result)) return result;
  const models = result.models.map(({ estimate, ...model }) => {
    const { sequential } = estimate;
    const sum = sequential && { ms: sequential.ms, lowMs: undefined, highMs: undefined };
    return { ...model, crossChecked: [], estimate: { ...estimate, sequential: sum, margins: [] } };
  });
  return { ...result, models };
}

export function settingsWarnings(result: EstimateResult): Report['warnings'] {
  const { unchanged = [], system } = result;
  const { optimizationLevel, session = [] } = optimizingRun(system.runOptions);
  const warnings: string[] = [];
  if (unchanged.length > 0) {
    const settings = [optimizerText(optimizationLevel), ...session].join(', ');
    warnings.push(`${settings}: the optimizer makes the same kernels as by default of ${unchanged.join(', ')}`);
  }
  if (isOverlapping(result)) {
    warnings.push(
      'kernels run at the same time: an estimate is their sum, and has no interval; the latency may be as low as parallel_ms',
    );
  }
  return warnings.map((message) => ({ cause: 'settings' as const, message }));
}
