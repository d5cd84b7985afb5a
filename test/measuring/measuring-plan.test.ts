import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Measurement } from '../../src/measurement/measurement.js';
import { DEFAULT_REMEASURE, type Remeasure } from '../../src/measurement/remeasure.js';
import { KnownResults } from '../../src/measuring/known-results.js';
import { planMeasuring } from '../../src/measuring/measuring-plan.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { measuredBeside } from '../store/measured-beside.js';
import { sampleMeasurement, sampleSystem, SYSTEM } from '../store/sample-measurement.js';
import { sampleTasks } from './sample-tasks.js';

const TASKS = sampleTasks('quiet', 'disturbed', 'crashed', 'not there');

const MEASUREMENTS: readonly Measurement[] = [
  sampleMeasurement(0),
  measuredBeside(900, 1),
  sampleMeasurement(2, { outcome: { kind: 'failure', reason: 'crashed', message: 'gone' } }),
];

/** Labels of the tasks that are missing and disturbed, and how many results are known. */
async function plan(remeasure: Remeasure, { system = SYSTEM, tasks = TASKS } = {}) {
  const store = await openMemoryStore();
  for (const measurement of MEASUREMENTS) await store.putMeasurement(measurement);
  const results = new KnownResults();
  const { missing, disturbed } = await planMeasuring(tasks, results, { system, store, remeasure });
  return {
    missing: missing.map(({ label }) => label),
    disturbed: disturbed.map(({ label }) => label),
    known: [...results.measurements()].length,
  };
}

describe('of the tasks to be measured', () => {
  test('those without a stored result are missing, and those that others disturbed are taken again on a quiet machine', async () => {
    const missing = ['crashed', 'not there'];
    assert.deepEqual(await plan(DEFAULT_REMEASURE), { missing, disturbed: ['disturbed'], known: 2 });
  });

  test('all known ones can be requested again, or none', async () => {
    const all = TASKS.map(({ label }) => label);
    assert.deepEqual(await plan({ kind: 'all' }), { missing: all, disturbed: [], known: 2 });
    assert.deepEqual(await plan({ kind: 'none' }), { missing: all.slice(2), disturbed: [], known: 2 });
  });

  test('none are known on another machine or with another number of threads', async () => {
    assert.equal((await plan(DEFAULT_REMEASURE, { system: sampleSystem({ processor: 'Another CPU' }) })).known, 0);
    const threaded = TASKS.map((task) => {
      return { ...task, request: { ...task.request, runOptions: { ...task.request.runOptions, threads: 2 } } };
    });
    assert.equal((await plan(DEFAULT_REMEASURE, { tasks: threaded })).known, 0);
    // The run options of the request decide, not those in the description of the system.
    const described = sampleSystem({ runOptions: { ...SYSTEM.runOptions, threads: 2 } });
    assert.equal((await plan(DEFAULT_REMEASURE, { system: described })).known, 2);
  });
});
