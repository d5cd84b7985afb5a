import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedRunTimes, computeVariation } from '../../../plugins/load/stored-runs.js';
import type { Measurement } from '../../../src/measurement/measurement.js';
import type { System } from '../../../src/measurement/system.js';

const here = { fingerprint: 'a' } as System;

function measured(fingerprint: string, runMs: readonly number[], context?: Measurement['context']): Measurement {
  const outcome = { kind: 'samples', runMs: [...runMs], warmupMs: [] } as const;
  return { system: { fingerprint } as System, outcome, ...(context && { context }) } as unknown as Measurement;
}

function storeWith(...all: readonly Measurement[]) {
  return { measurementsOf: () => Promise.resolve(all) };
}

const RUNS = Array.from({ length: 10 }, () => [9, 11]).flat();

test('runs of the whole model on this system give the variation of all occasions, each around its own mean', async () => {
  const twice = storeWith(
    measured('a', RUNS),
    measured(
      'a',
      RUNS.map((ms) => 2 * ms),
    ),
    measured('b', [1, 100]),
  );
  const runs = await storedRunTimes('signature', here, twice);
  assert.equal(runs?.length, 40);
  assert.ok(Math.abs(computeVariation(runs) - 0.1) < 1e-9, `${computeVariation(runs)}`);
});

test('few runs, and runs of bricks among others, say nothing', async () => {
  assert.equal(await storedRunTimes('signature', here, storeWith(measured('a', [9, 11]))), undefined);
  assert.equal(
    await storedRunTimes('signature', here, storeWith(measured('a', RUNS, { footprintBytes: 1 }))),
    undefined,
  );
});
