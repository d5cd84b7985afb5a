import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { snakeCaseSchema, snakePath, withCamelKeys, withSnakeKeys } from '../../src/base/snake-case.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

describe('keys in snake_case', () => {
  it('replace those in camelCase at every depth, and leave values as they are', () => {
    const given = { runMs: [1, 2], system: { processorFeatures: ['avx2', 'amxTile'] }, mixed: [{ aB: null }] };
    const expected = { run_ms: [1, 2], system: { processor_features: ['avx2', 'amxTile'] }, mixed: [{ a_b: null }] };
    assert.deepEqual(withSnakeKeys(given), expected);
  });

  it('replace no names of variables', () => {
    const given = { environment: { OMP_NUM_THREADS: '1', MALLOC_TRIM_THRESHOLD_: '2' } };
    assert.deepEqual(withSnakeKeys(given), given);
    assert.deepEqual(withCamelKeys(given), given);
  });

  it('can be turned back into the keys of a measurement', () => {
    const measurement = sampleMeasurement(1);
    assert.deepEqual(withCamelKeys(withSnakeKeys(measurement)), measurement);
  });

  it('are the keys of problems and of schemas too', () => {
    assert.deepEqual(snakePath(['measurements', 0, 'costMs']), ['measurements', 0, 'cost_ms']);
    assert.deepEqual(
      snakeCaseSchema({ properties: { costMs: { type: 'number', description: 'costMs' } }, required: ['costMs'] }),
      { properties: { cost_ms: { type: 'number', description: 'costMs' } }, required: ['cost_ms'] },
    );
  });

  it('are replaced to a depth that no document of this project has, so that none exhausts the stack', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    assert.doesNotThrow(() => withCamelKeys(deep));
  });
});
