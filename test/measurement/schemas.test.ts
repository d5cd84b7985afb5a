import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measurementSchema } from '../../src/measurement/measurement.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

/** With everything that a measurement can have. */
const MEASUREMENT = sampleMeasurement(1, {
  conditions: {
    wallMs: 900,
    cores: 2,
    stealMs: 10,
    othersMs: 20,
    throttledMs: 30,
    lowestMhz: 800,
    highestMhz: 3700,
  },
});

type Path = readonly string[];

/** A copy with another value at the path; without the key where the value is undefined. */
function changed(value: unknown, [key, ...rest]: Path, leaf: unknown): unknown {
  if (key === undefined) return leaf;
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown>) };
  const inner = changed(copy[key], rest, leaf);
  if (inner === undefined) delete copy[key];
  else copy[key] = inner;
  return copy;
}

function isAccepted(path: Path, leaf: unknown): boolean {
  return measurementSchema.safeParse(changed(MEASUREMENT, path, leaf)).success;
}

/** The path of every key, at any depth. */
function pathsIn(value: unknown, around: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...around, key], ...pathsIn(inner, [...around, key])]);
}

const WATCHED = ['stealMs', 'othersMs', 'throttledMs', 'lowestMhz', 'highestMhz'];

/** What some machines do not say. */
const OPTIONAL: ReadonlySet<string> = new Set(['conditions', ...WATCHED.map((key) => `conditions.${key}`)]);

const HEX = 'ab'.repeat(32);

// Every backend, export and import checks measurements by this schema: what it refuses is never stored, and what it
// accepts has to be readable for ever.
describe('a measurement', () => {
  test('is accepted as it is, and nothing of it gets lost', () => {
    assert.deepEqual(measurementSchema.parse(MEASUREMENT), MEASUREMENT);
  });

  for (const path of pathsIn(MEASUREMENT)) {
    const name = path.join('.');
    const isOptional = OPTIONAL.has(name);
    test(`may ${isOptional ? '' : 'not '}lack ${name}`, () => assert.equal(isAccepted(path, undefined), isOptional));
  }

  for (const path of [[], ['system'], ['system', 'runOptions'], ['protocol'], ['outcome'], ['conditions']]) {
    test(`has no other key${path.length === 0 ? '' : ` in ${path.join('.')}`}`, () => {
      assert.equal(isAccepted([...path, 'more'], 1), false);
    });
  }

  const bounds: readonly [path: string, within: readonly unknown[], beyond: readonly unknown[]][] = [
    ['signature', [HEX], [HEX.toUpperCase(), `${HEX}a`, `a${HEX}`, HEX.slice(1), 7]],
    ['system.fingerprint', [HEX], [HEX.toUpperCase(), `${HEX}a`, `a${HEX}`, HEX.slice(1), 7]],
    ['system.cores', [1], [0, 1.5]],
    ['system.memoryBytes', [0.5], [0]],
    ['system.cacheBytes', [0], [-1]],
    ['system.processorFeatures', [[]], [[1]]],
    ['system.runOptions.threads', [1, 1024], [0, 1025, 1.5]],
    ['system.runOptions.executionProvider', ['x'], ['']],
    ['system.runOptions.optimizationLevel', ['disabled', 'basic', 'extended', 'layout', 'all'], ['none']],
    ['protocol.warmupRuns', [0, 100_000], [-1, 100_001, 0.5]],
    ['protocol.runs', [1, 1_000_000], [0, 1_000_001, 1.5]],
    ['protocol.minRuns', [1], [0, 1.5]],
    ['protocol.occasion', [1], [0, 1.5]],
    ['protocol.timeBudgetMs', [0.5], [0]],
    ['protocol.timeLimitMs', [0.5], [0]],
    ['protocol.memoryLimitBytes', [0.5], [0]],
    ['outcome.runMs', [[0]], [[], [-1], ['1']]],
    ['outcome.warmupMs', [[], [0]], [[-1]]],
    ['costMs', [0], [-1, Number.NaN, Infinity]],
    ['sessionMs', [0], [-1]],
    ['peakMemoryBytes', [0], [-1]],
    ['conditions.wallMs', [0], [-1]],
    ['conditions.cores', [1], [0, 1.5]],
    ['conditions.stealMs', [0], [-1]],
    ['conditions.othersMs', [0], [-1]],
    ['conditions.throttledMs', [0], [-1]],
    ['conditions.lowestMhz', [0.5], [0]],
    ['conditions.highestMhz', [0.5], [0]],
    ['measuredAt', ['2026-01-02T03:04:05Z'], ['2026-01-02', '2026-01-02T03:04:05+01:00', 'now']],
  ];
  for (const [name, within, beyond] of bounds) {
    const path = name.split('.');
    test(`has ${name} within its bounds`, () => {
      for (const value of within) assert.ok(isAccepted(path, value), `${JSON.stringify(value)} is accepted`);
      for (const value of beyond) assert.ok(!isAccepted(path, value), `${JSON.stringify(value)} is refused`);
    });
  }

  describe('that failed', () => {
    for (const reason of ['unsupported', 'out_of_memory', 'timeout', 'crashed', 'run_failed']) {
      test(`may say ${reason}`, () => {
        assert.ok(isAccepted(['outcome'], { kind: 'failure', reason, message: 'why' }));
      });
    }

    test('says why, and nothing else', () => {
      const failure = { kind: 'failure', reason: 'crashed', message: 'why' };
      assert.ok(!isAccepted(['outcome'], { ...failure, reason: 'bored' }));
      assert.ok(!isAccepted(['outcome'], { ...failure, message: undefined }));
      assert.ok(!isAccepted(['outcome'], { ...failure, runMs: [1] }));
    });
  });
});
