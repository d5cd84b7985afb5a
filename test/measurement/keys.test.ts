import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measurementKey, type MeasurementSetup, setupKey } from '../../src/measurement/measurement.js';
import type { Protocol } from '../../src/measurement/protocol.js';
import { type System, identifySystem } from '../../src/measurement/system.js';
import { PROTOCOL, sampleMeasurement, SYSTEM } from '../store/sample-measurement.js';

const { fingerprint: FINGERPRINT, ...FACTS } = SYSTEM;

// Stores find measurements by these keys. If a key changes, a store looks empty. If a key says too little, measurements
// of different things look the same.

describe("a setup's key", () => {
  const setup: MeasurementSetup = { protocol: PROTOCOL, occasion: 1 };

  test('is the same as in existing stores', () => {
    assert.equal(setupKey(setup), 'warmup=3,runs=50,min=5,budget=2000ms,occasion=1');
  });

  test('contains the footprint of the context, if there is a context', () => {
    const together = { ...setup, context: { footprintBytes: 2 ** 20 } };
    assert.equal(setupKey(together), 'warmup=3,runs=50,min=5,budget=2000ms,footprint=1048576,occasion=1');
  });

  const protocols: readonly Partial<Protocol>[] = [
    { warmupRuns: 4 },
    { runs: 51 },
    { minRuns: 11 },
    { timeBudgetMs: 5001 },
  ];
  const changes: readonly Partial<MeasurementSetup>[] = [
    ...protocols.map((change) => ({ protocol: { ...PROTOCOL, ...change } })),
    { occasion: 2 },
    { context: { footprintBytes: 2 ** 22 } },
  ];
  for (const change of changes) {
    test(`differs with ${JSON.stringify(change)}`, () => {
      assert.notEqual(setupKey({ ...setup, ...change }), setupKey(setup));
    });
  }
});

describe("a system's fingerprint", () => {
  test('is the same as in existing stores', () => {
    // printf '["Test CPU @ 3.00GHz","x64","Linux 6.1",2,33554432,["avx2","avx512f"],"onnxruntime","1.30.0",1,"cpu","all"]' | sha256sum
    assert.equal(FINGERPRINT, '07becfd74d92573c0d34eedca618172f4e088e484f3937e95b3a4670267d0be5');
  });

  test('is added to the facts, which stay unchanged', () => {
    const { fingerprint, ...facts } = identifySystem(FACTS, FACTS.runOptions);
    assert.match(fingerprint, /^[0-9a-f]{64}$/);
    assert.deepEqual(facts, FACTS);
  });

  test('does not depend on how defaults are given', () => {
    const defaults = { executionMode: 'sequential', interOpThreads: 4 } as const;
    assert.equal(identifySystem(FACTS, { ...FACTS.runOptions, ...defaults, session: [] }).fingerprint, FINGERPRINT);
    const parallel = { ...FACTS.runOptions, executionMode: 'parallel' } as const;
    const two = identifySystem(FACTS, { ...parallel, interOpThreads: 2 }).fingerprint;
    assert.notEqual(two, identifySystem(FACTS, { ...parallel, interOpThreads: 1 }).fingerprint);
  });

  const changes: readonly Partial<System>[] = [
    { processor: 'another' },
    { architecture: 'arm64' },
    { operatingSystem: 'Linux 6.2' },
    { cores: 4 },
    { cacheBytes: 0 },
    { processorFeatures: ['avx2'] },
    { framework: 'another' },
    { frameworkVersion: '1.30.1' },
    { devices: [{ kind: 'gpu', name: 'Test GPU', memoryBytes: 2 ** 34 }] },
    { runOptions: { ...FACTS.runOptions, threads: 2 } },
    { runOptions: { ...FACTS.runOptions, executionProvider: 'cuda' } },
    { runOptions: { ...FACTS.runOptions, optimizationLevel: 'basic' } },
    { runOptions: { ...FACTS.runOptions, executionMode: 'parallel' } },
    { runOptions: { ...FACTS.runOptions, session: ['session.disable_prepacking=1'] } },
  ];
  for (const change of changes) {
    test(`differs with ${JSON.stringify(change)}`, () => {
      const changed = { ...FACTS, ...change };
      assert.notEqual(identifySystem(changed, changed.runOptions).fingerprint, FINGERPRINT);
    });
  }

  test('depends neither on memory nor on the order of features', () => {
    const same = { ...FACTS, memoryBytes: 1, processorFeatures: ['avx512f', 'avx2'] };
    assert.equal(identifySystem(same, same.runOptions).fingerprint, FINGERPRINT);
  });
});

test("a measurement's key does not depend on limits, which decide only whether there is a result", () => {
  const limits = { timeLimitMs: 1, memoryLimitBytes: 1 };
  assert.deepEqual(measurementKey(sampleMeasurement(1, { limits })), measurementKey(sampleMeasurement(1)));
});

test("a measurement's key names benchmark, system and setup", () => {
  const measurement = sampleMeasurement(1);
  assert.deepEqual(measurementKey(measurement), {
    signature: measurement.signature,
    system: FINGERPRINT,
    setup: setupKey(measurement),
  });
});
