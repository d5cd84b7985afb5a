import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measurementKey } from '../../src/measurement/measurement.js';
import { type Protocol, protocolKey } from '../../src/measurement/protocol.js';
import { type System, withFingerprint } from '../../src/measurement/system.js';
import { PROTOCOL, sampleMeasurement, SYSTEM } from '../store/sample-measurement.js';

const { fingerprint: FINGERPRINT, ...FACTS } = SYSTEM;

// Stores find measurements by these keys. Where a key changes, a store looks empty; where it says too little, measurements
// of different things are taken for the same.

describe("a protocol's key", () => {
  test('is the one that stores have', () => {
    assert.equal(protocolKey(PROTOCOL), 'warmup=3,runs=50,min=5,budget=2000ms,occasion=1');
  });

  const changes: readonly Partial<Protocol>[] = [
    { warmupRuns: 4 },
    { runs: 51 },
    { minRuns: 11 },
    { timeBudgetMs: 5001 },
    { occasion: 2 },
  ];
  for (const change of changes) {
    test(`differs with ${Object.keys(change).join()}`, () => {
      assert.notEqual(protocolKey({ ...PROTOCOL, ...change }), protocolKey(PROTOCOL));
    });
  }

  test('does not depend on limits, which decide only whether there is a result', () => {
    assert.equal(protocolKey({ ...PROTOCOL, timeLimitMs: 1, memoryLimitBytes: 1 }), protocolKey(PROTOCOL));
  });
});

describe("a system's fingerprint", () => {
  test('is the one that stores have', () => {
    // printf '["Test CPU @ 3.00GHz","x64","Linux 6.1",2,33554432,["avx2","avx512f"],"onnxruntime","1.30.0",1,"cpu","all"]' | sha256sum
    assert.equal(FINGERPRINT, '07becfd74d92573c0d34eedca618172f4e088e484f3937e95b3a4670267d0be5');
  });

  test('comes with the facts as they are', () => {
    const { fingerprint, ...facts } = withFingerprint(FACTS);
    assert.match(fingerprint, /^[0-9a-f]{64}$/);
    assert.deepEqual(facts, FACTS);
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
    { runOptions: { ...FACTS.runOptions, threads: 2 } },
    { runOptions: { ...FACTS.runOptions, executionProvider: 'cuda' } },
    { runOptions: { ...FACTS.runOptions, optimizationLevel: 'basic' } },
  ];
  for (const change of changes) {
    test(`differs with ${JSON.stringify(change)}`, () => {
      assert.notEqual(withFingerprint({ ...FACTS, ...change }).fingerprint, FINGERPRINT);
    });
  }

  test('depends neither on memory nor on the order of features', () => {
    const same = { ...FACTS, memoryBytes: 1, processorFeatures: ['avx512f', 'avx2'] };
    assert.equal(withFingerprint(same).fingerprint, FINGERPRINT);
  });
});

test("a measurement's key names benchmark, system and protocol", () => {
  const measurement = sampleMeasurement(1);
  assert.deepEqual(measurementKey(measurement), {
    signature: measurement.signature,
    system: FINGERPRINT,
    protocol: protocolKey(PROTOCOL),
  });
});
