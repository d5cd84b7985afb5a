import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateAll } from '../../../plugins/dlbricks/evaluate.js';
import type { EvaluationEvent } from '../../../src/evaluation/event.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { driftingAgent } from './support/drifting-agent.js';
import { loadedChain } from './support/chain-model.js';
import { requestFor } from './support/evaluate.js';

test('evaluations of a model at two levels of optimization count each brick that both have once', async () => {
  const agent = driftingAgent();
  const events: EvaluationEvent[] = [];
  const context = {
    agent,
    store: await openMemoryStore(),
    signal: new AbortController().signal,
    onEvent: (event: EvaluationEvent) => events.push(event),
  };
  const requests = (['all', 'basic'] as const).map((optimizationLevel) => {
    const runOptions = { threads: 1, executionProvider: 'cpu', optimizationLevel };
    const precision = { targetError: 0.05, repeatLimit: 0, leastRepeatMs: 0 };
    return requestFor([loadedChain('one', 'Relu', 'Neg')], { cut: 'kernel', runOptions, precision });
  });
  await evaluateAll(requests, context);
  const planned = events.flatMap((event) => (event.kind === 'planned' ? [[event.toMeasure, event.known]] : []));
  // Two bricks and the empty call, which is optimized in each session as the model is.
  assert.deepEqual(planned, [[agent.asked.length, 0]]);
});
