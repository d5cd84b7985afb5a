import { createHash } from 'node:crypto';
import { type Measurement, setupKey } from '../../src/measurement/measurement.js';
import type { Limits, Protocol } from '../../src/measurement/protocol.js';
import { identifySystem, type System } from '../../src/measurement/system.js';

const FACTS: Omit<System, 'fingerprint'> = {
  processor: 'Test CPU @ 3.00GHz',
  architecture: 'x64',
  operatingSystem: 'Linux 6.1',
  cores: 2,
  memoryBytes: 8 * 1024 ** 3,
  cacheBytes: 32 * 1024 ** 2,
  processorFeatures: ['avx2', 'avx512f'],
  framework: 'onnxruntime',
  frameworkVersion: '1.30.0',
  runOptions: { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' },
};

/** A system, by default the one of {@link sampleMeasurement}. */
export function sampleSystem(changes: Partial<typeof FACTS> = {}): System {
  const facts = { ...FACTS, ...changes };
  return identifySystem(facts, facts.runOptions);
}

export const SYSTEM = sampleSystem();

export const PROTOCOL: Protocol = {
  warmupRuns: 3,
  runs: 50,
  minRuns: 5,
  timeBudgetMs: 2000,
};

export const LIMITS: Limits = { timeLimitMs: 60_000, memoryLimitBytes: 4 * 1024 ** 3 };

export const SETUP_KEY = setupKey({ protocol: PROTOCOL, occasion: 1 });

/** Simulations ask for the same few of them millions of times. */
const SIGNATURES = new Map<number, string>();

/** Signature number `index`; no two are the same. */
export function signatureOf(index: number): string {
  const known = SIGNATURES.get(index);
  if (known !== undefined) return known;
  const signature = createHash('sha256').update(String(index)).digest('hex');
  SIGNATURES.set(index, signature);
  return signature;
}

export function sampleMeasurement(index: number, changes: Partial<Measurement> = {}): Measurement {
  return {
    signature: signatureOf(index),
    system: SYSTEM,
    protocol: PROTOCOL,
    occasion: 1,
    limits: LIMITS,
    outcome: { kind: 'samples', runMs: [1.25 + index, 1.5 + index], warmupMs: [9.75] },
    costMs: 120.5,
    sessionMs: 80.25,
    peakMemoryBytes: 123_456_789,
    measuredAt: '2026-01-02T03:04:05.678Z',
    ...changes,
  };
}
