import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measurementKey, measurementSchema, storedMeasurementSchema } from '../../src/measurement/measurement.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

/** A measurement with all optional fields. */
const MEASUREMENT = sampleMeasurement(1, {
  context: { footprintBytes: 2 ** 20 },
  outcome: { kind: 'samples', runMs: [2.5, 2.25], warmupMs: [9.75], overheadMs: 0.125 },
  conditions: {
    wallMs: 900,
    cores: 2,
    stealMs: 10,
    othersMs: 20,
    throttledMs: 30,
    lowestMhz: 800,
    highestMhz: 3700,
    droppedRuns: 4,
    sharedShare: 0.25,
    majorFaults: 1,
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

const WATCHED = [
  'stealMs',
  'othersMs',
  'throttledMs',
  'lowestMhz',
  'highestMhz',
  'droppedRuns',
  'sharedShare',
  'majorFaults',
];

/** Optional fields: facts that some machines do not provide, and fields that only measurements in a context have. */
const OPTIONAL: ReadonlySet<string> = new Set([
  'conditions',
  ...WATCHED.map((key) => `conditions.${key}`),
  'context',
  'outcome.overheadMs',
]);

const HEX = 'ab'.repeat(32);

// Every backend, export and import checks measurements against this schema. A measurement that it refuses is never
// stored, and a measurement that it accepts has to stay readable for ever.
describe('a measurement', () => {
  test('is accepted unchanged, and no field gets lost', () => {
    assert.deepEqual(measurementSchema.parse(MEASUREMENT), MEASUREMENT);
  });

  for (const path of pathsIn(MEASUREMENT)) {
    const name = path.join('.');
    const isOptional = OPTIONAL.has(name);
    test(`may ${isOptional ? '' : 'not '}lack ${name}`, () => assert.equal(isAccepted(path, undefined), isOptional));
  }

  for (const path of [
    [],
    ['system'],
    ['system', 'runOptions'],
    ['protocol'],
    ['limits'],
    ['context'],
    ['outcome'],
    ['conditions'],
  ]) {
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
    ['occasion', [1], [0, 1.5]],
    ['protocol.timeBudgetMs', [0.5], [0]],
    ['limits.timeLimitMs', [0.5], [0]],
    ['limits.memoryLimitBytes', [0.5], [0]],
    ['outcome.runMs', [[0]], [[], [-1], ['1']]],
    ['outcome.warmupMs', [[], [0]], [[-1]]],
    ['outcome.overheadMs', [0], [-1]],
    ['context.footprintBytes', [1], [0, 1.5]],
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
    ['conditions.droppedRuns', [0], [-1, 0.5]],
    ['conditions.majorFaults', [0], [-1, 0.5]],
    ['conditions.sharedShare', [0, 1], [-0.01, 1.01]],
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

describe('a stored measurement', () => {
  const { protocol, occasion, limits, ...rest } = MEASUREMENT;
  const older = { ...rest, protocol: { ...protocol, occasion, ...limits } };

  test('of version 0.1 is read as a measurement of the current version, with the same key', () => {
    const read = storedMeasurementSchema.parse(older);
    assert.deepEqual(read, MEASUREMENT);
    assert.deepEqual(measurementKey(read), measurementKey(MEASUREMENT));
  });

  test('of the current version is read as it is', () =>
    assert.deepEqual(storedMeasurementSchema.parse(MEASUREMENT), MEASUREMENT));

  test('is refused if it is older and lacks its occasion, or has a key that no version wrote', () => {
    for (const wrong of [
      { ...protocol, ...limits },
      { ...older.protocol, more: 1 },
      { ...older.protocol, occasion: 0 },
    ]) {
      assert.ok(!storedMeasurementSchema.safeParse({ ...older, protocol: wrong }).success);
    }
  });
});
