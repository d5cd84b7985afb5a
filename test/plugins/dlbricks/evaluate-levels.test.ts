import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateAll } from '../../../plugins/dlbricks/evaluate.js';
import type { EvaluationEvent } from '../../../src/evaluation/event.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { LIMITS, PROTOCOL } from '../../store/sample-measurement.js';
import { driftingAgent } from './support/drifting-agent.js';
import { loadedChain } from './support/chain-model.js';

test('evaluations of a model at two levels of optimization count each brick that both have once', async () => {
  const agent = driftingAgent();
  const events: EvaluationEvent[] = [];
  const context = {
    agent,
    store: await openMemoryStore(),
    signal: new AbortController().signal,
    onEvent: (event: EvaluationEvent) => events.push(event),
  };
  const requests = (['all', 'basic'] as const).map((optimizationLevel) => ({
    models: [loadedChain('one', 'Relu', 'Neg')],
    cut: 'kernel' as const,
    runOptions: { threads: 1, executionProvider: 'cpu', optimizationLevel },
    protocol: PROTOCOL,
    limits: LIMITS,
    readingMs: 0,
    measureEndToEnd: false,
    precision: { targetError: 0.05, repeatLimit: 0, leastRepeatMs: 0 },
  }));
  await evaluateAll(requests, context);
  const planned = events.flatMap((event) => (event.kind === 'planned' ? [[event.toMeasure, event.known]] : []));
  // Two bricks and the empty call, which is optimized in each session as the model is.
  assert.deepEqual(planned, [[agent.asked.length, 0]]);
});
