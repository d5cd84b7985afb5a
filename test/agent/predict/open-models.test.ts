import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { WorkerRunner } from '../../../src/agent/worker/worker-runner.js';
import { OpenModels } from '../../../src/agent/predict/open-models.js';
import { parsePredictOptions } from '../../../src/agent/predict/options.js';
import { predictionModels } from '../support/prediction-models.js';
import { runOptions } from '../support/tiny-benchmarks.js';

const HOUR_MS = 3_600_000;

describe('when as many models are open as allowed', { timeout: 300_000 }, () => {
  const resolve = predictionModels();
  const runner = new WorkerRunner('onnxruntime', 2);
  after(() => runner.close());
  const signal = new AbortController().signal;
  let nowMs = 0;

  function openModels(): OpenModels {
    const limits = { timeLimitMs: 60_000, memoryLimitBytes: 4e9 };
    return new OpenModels({ runner, runOptions, limits, nowMs: () => nowMs });
  }

  function open(models: OpenModels, persist = false): Promise<string> {
    const load = async () => ({ model: await resolve('relu', ''), options: parsePredictOptions(undefined), persist });
    return models.open(load, signal);
  }

  function isOpen(models: OpenModels, id: string): Promise<boolean> {
    return models.use(id, () => Promise.resolve(true)).catch(() => false);
  }

  test('the model that was idle for longest is closed, but none that was used lately or is persistent', async () => {
    const models = openModels();
    const persistent = await open(models, true);
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) {
      nowMs += 1000;
      ids.push(await open(models));
    }
    const [first = '', second = '', third = ''] = ids;
    await assertRefused(open(models), 'exhausted');

    nowMs += HOUR_MS;
    assert.ok(await isOpen(models, first));
    ids.push(await open(models));
    const still = await Promise.all([persistent, first, second, third].map((id) => isOpen(models, id)));
    assert.deepEqual(still, [true, true, false, true]);
    for (const id of [persistent, ...ids]) await models.close(id, true).catch(() => {});
  });

  test('no more than 16 calls predict at a time', async () => {
    const models = openModels();
    const id = await open(models);
    let done = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      done = resolve;
    });
    const calls = Array.from({ length: 16 }, () => models.use(id, () => waiting.then()));
    const one = models.use(id, () => waiting.then());
    await assertRefused(one, 'exhausted');
    done();
    await Promise.all(calls);
    assert.ok(await isOpen(models, id));
    await models.close(id, true);
  });
});
