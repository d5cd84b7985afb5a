import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { optimizedGraph } from '../../../src/agent/worker/job-end.js';

describe('the cost of an optimized graph, which is kept with it', () => {
  const benchmark = { signature: 'a'.repeat(64), model: new Uint8Array(), inputs: [] };
  const end = { kind: 'optimized', optimized: { benchmark, values: new Map() }, processorMs: 400 } as const;

  test('is its share of the wall time on an idle machine', () => assert.equal(optimizedGraph(end, 250).costMs, 250));
  test('does not contain that a busy machine kept it waiting', () =>
    assert.equal(optimizedGraph(end, 6300).costMs, 400));
});
