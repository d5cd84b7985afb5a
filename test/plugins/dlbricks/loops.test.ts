import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runEstimation } from '../../../plugins/dlbricks/estimation.js';
import { settingsSchema } from '../../../plugins/dlbricks/settings.js';
import { loadModel } from '../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { LIMITS } from '../../store/sample-measurement.js';
import { agentForSuite } from '../../agent/support/running-agent.js';
import { recurrentLoop, recurrentScan } from './support/loops.js';

const folder = mkdtempSync(join(tmpdir(), 'dlbricks-loops-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const PROTOCOL = { warmupRuns: 1, runs: 9, minRuns: 3, timeBudgetMs: 2000 };

const STEPS = 1024;

/** Other tests run at the same time, so one of some ratios has to be near 1. With the profile, all are above 5. */
const TRIES = 5;
const NEAR = 2;

describe('a model that is mostly a loop', { timeout: 240_000 }, () => {
  const agent = agentForSuite();

  async function normalizedLatency(path: string): Promise<number> {
    const models = [await loadModel(path, { batch: 1 })];
    const settings = settingsSchema.parse({ measure_end_to_end: true, repeat_limit: 0 });
    const common = { threads: 1, batch: 1, protocol: PROTOCOL, limits: LIMITS, startMs: performance.now() };
    const { signal } = new AbortController();
    const context = { agent: agent().client, store: await openMemoryStore(), signal, onEvent: () => {} };
    const { report } = await runEstimation({ models, settings, ...common }, context);
    const [model] = report.models;
    assert.equal(model?.coverage, 1);
    assert.deepEqual(
      model.bricks.map(({ operators, measured, copies }) => [/Loop|Scan/.test(operators.join()), measured, copies]),
      [
        [false, 'together', null],
        [true, 'copies', 4],
      ],
    );
    return model.normalized_latency ?? Infinity;
  }

  for (const [name, bytes] of [
    ['Scan', recurrentScan(STEPS)],
    ['Loop', recurrentLoop(STEPS)],
  ] as const) {
    test(`takes as long by its bricks as whole (${name})`, async () => {
      const path = join(folder, `${name}.onnx`);
      writeFileSync(path, bytes);
      const isNear = (ratio: number): boolean => ratio < NEAR && ratio > 1 / NEAR;
      const ratios: number[] = [];
      while (ratios.length < TRIES && !ratios.some(isNear)) ratios.push(await normalizedLatency(path));
      assert.ok(ratios.some(isNear), `normalized latencies: ${ratios.join(', ')}`);
    });
  }
});
