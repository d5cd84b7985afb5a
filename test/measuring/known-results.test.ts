import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FailureReason, Measurement } from '../../src/measurement/measurement.js';
import type { Limits } from '../../src/measurement/protocol.js';
import { isConclusive } from '../../src/measuring/known-results.js';
import { LIMITS, sampleMeasurement } from '../store/sample-measurement.js';

describe('a known measurement is reused', () => {
  const failure = (reason: FailureReason): Measurement =>
    sampleMeasurement(0, { outcome: { kind: 'failure', reason, message: 'no' } });
  const longer: Limits = { ...LIMITS, timeLimitMs: LIMITS.timeLimitMs * 2 };
  const larger: Limits = { ...LIMITS, memoryLimitBytes: LIMITS.memoryLimitBytes * 2 };
  const shorter: Limits = { ...LIMITS, timeLimitMs: LIMITS.timeLimitMs / 2 };

  const cases: readonly (readonly [string, Measurement, Limits, boolean])[] = [
    ['that has samples', sampleMeasurement(0), longer, true],
    ['that the runtime refused', failure('unsupported'), longer, true],
    ['that failed to run', failure('run_failed'), larger, true],
    ['that timed out', failure('timeout'), LIMITS, true],
    ['that timed out, within less time', failure('timeout'), shorter, true],
    ['that timed out, but not within more time', failure('timeout'), longer, false],
    ['that timed out, at any memory limit', failure('timeout'), larger, true],
    ['that ran out of memory', failure('out_of_memory'), longer, true],
    ['that ran out of memory, but not with more of it', failure('out_of_memory'), larger, false],
    ['but not one that crashed', failure('crashed'), LIMITS, false],
  ];
  for (const [what, measurement, asked, expected] of cases) {
    test(what, () => assert.equal(isConclusive(measurement, asked), expected));
  }
});
