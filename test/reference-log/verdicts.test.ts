import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoggedOutput } from '../../src/reference-log/log-schema.js';
import {
  compareConditions,
  compareOutputs,
  comparePerformance,
  firstDifferentLayer,
  PERFORMANCE_VERDICTS,
  worst,
} from '../../src/reference-log/verdicts.js';

import { uniform, xoshiro128pp } from '../../src/base/random.js';
import { studentWidth } from '../../src/measurement/student.js';

const OUTPUT: LoggedOutput = {
  name: 'y',
  element_type: 'float32',
  dims: [2, 2],
  sha256: 'a'.repeat(64),
  first: [1, 2, 3, 0],
  norm: Math.sqrt(14),
  not_finite: 0,
  top_5: null,
};

const changed = (change: Partial<LoggedOutput>): LoggedOutput[] => [{ ...OUTPUT, sha256: 'b'.repeat(64), ...change }];

describe('outputs', () => {
  it('are the same by their bits', () => {
    assert.equal(compareOutputs([OUTPUT], [OUTPUT]).verdict, 'same');
    assert.equal(compareOutputs([OUTPUT], null).verdict, 'not known');
  });

  it('are within the tolerance up to a relative difference of 0.001, and an element near 0 by the usual size', () => {
    assert.equal(compareOutputs([OUTPUT], changed({ first: [1.0009, 2, 3, 0.001] })).verdict, 'within tolerance');
    assert.equal(compareOutputs([OUTPUT], changed({ first: [1.003, 2, 3, 0] })).verdict, 'different');
  });

  it('differ by shape, norm, missing outputs and elements that are no numbers', () => {
    assert.match(
      compareOutputs([OUTPUT], changed({ dims: [4] })).detail,
      /y is float32\[4\] instead of float32\[2, 2\]/,
    );
    assert.match(compareOutputs([OUTPUT], changed({ norm: 4 })).detail, /y has the norm 4/);
    assert.match(compareOutputs([OUTPUT], changed({ name: 'z' })).detail, /y is missing/);
    assert.equal(compareOutputs([OUTPUT], changed({ first: [1, 2, 3, null], not_finite: 1 })).verdict, 'different');
  });

  it('part at the first value between layers that differs', () => {
    const logged = { names: ['a', 'b', 'c'], norms: [1, 2, 3] };
    assert.equal(firstDifferentLayer(logged, { names: ['a', 'b', 'c'], norms: [1, 2.1, 4] }), 'b');
    assert.equal(firstDifferentLayer(logged, { names: ['a', 'b', 'c'], norms: [1, 2.0001, 3] }), undefined);
    assert.equal(firstDifferentLayer(logged, { names: ['a'], norms: [1] }), 'b');
  });
});

const of = (latency_ms: number, low_ms: number | null = null, high_ms: number | null = null) => {
  return { latency_ms, low_ms, high_ms };
};

describe('the performance', () => {
  it('is reproduced where the interval contains 1 and is narrow', () => {
    assert.equal(comparePerformance(of(10, 9.7, 10.3), [of(10.2, 9.9, 10.5)]).verdict, 'reproduced');
    assert.equal(comparePerformance(of(10, 9.7, 10.3), [of(12, 11.7, 12.3)]).verdict, 'different');
    assert.equal(comparePerformance(of(10, 8, 12), [of(11, 9, 13)]).verdict, 'unclear');
  });

  it('has the interval of the next process where the log has one process', () => {
    const { ratio, low, high, verdict } = comparePerformance(
      of(10),
      [9.9, 10, 10.1].map((ms) => of(ms)),
    );
    const logs = [9.9, 10, 10.1].map(Math.log);
    const mean = logs.reduce((sum, one) => sum + one, 0) / 3;
    const deviation = Math.sqrt(logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 2);
    const half = studentWidth(0.05, 2) * deviation * Math.sqrt(4 / 3);
    assert.ok(Math.abs((high ?? 0) / (ratio ?? 1) - Math.exp(half)) < 1e-12);
    assert.ok(Math.abs((ratio ?? 1) / (low ?? 1) - Math.exp(half)) < 1e-12);
    assert.equal(verdict, 'reproduced');
  });

  it('holds in 95 of 100 logs of the same machine', () => {
    const next = xoshiro128pp(7);
    const random = (): number => uniform(next);
    const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const process = () => of(10 * Math.exp(0.02 * gauss()));
    const runs = 2000;
    const wrong = Array.from({ length: runs }, () => {
      return comparePerformance(process(), [process(), process(), process(), process(), process()]).verdict;
    }).filter((verdict) => verdict === 'different').length;
    // 5 %, with four standard errors: 0.0049 each.
    assert.ok(wrong / runs > 0.03 && wrong / runs < 0.07, String(wrong / runs));
  });

  it('is not known without a figure, or with one process on each side', () => {
    assert.equal(comparePerformance({ latency_ms: null, low_ms: null, high_ms: null }, [of(1)]).verdict, 'not known');
    assert.equal(comparePerformance(of(10), [of(10)]).verdict, 'not known');
    assert.equal(comparePerformance(of(10), []).verdict, 'not known');
  });
});

describe('conditions', () => {
  const stack = {
    ...{ processor: 'p', architecture: 'x64', operating_system: 'o', cores: 2, memory_bytes: 1 },
    ...{ processor_features: [], framework: 'f', framework_version: '1' },
  };

  it('name what differs, and whether it matters; what is not known differs from nothing', () => {
    const now = { stack: { ...stack, cores: 4, operating_system: 'q' }, surroundings: null };
    assert.deepEqual(compareConditions({ stack, surroundings: null }, now), [
      { aspect: 'operating_system', logged: '"o"', now: '"q"', matters: false },
      { aspect: 'cores', logged: '2', now: '4', matters: true },
    ]);
    assert.deepEqual(compareConditions({ stack: null, surroundings: null }, now), []);
  });

  it('have the worst verdict of all', () => {
    assert.equal(worst(PERFORMANCE_VERDICTS, ['reproduced', 'unclear', 'reproduced']), 'unclear');
    assert.equal(worst(PERFORMANCE_VERDICTS, []), undefined);
  });
});
