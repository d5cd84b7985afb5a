import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PreparedModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { checkModels } from '../../../../plugins/dlbricks/measure/check-models.js';
import type { MeasureSettings } from '../../../../plugins/dlbricks/measure/tasks.js';
import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import type { KernelTrace, LayerTrace } from '../../../../src/agent/layer-trace.js';
import { type ErrorCode, PlatformError } from '../../../../src/base/errors.js';
import { protocolOfComposite, type System } from '../../../../src/plugin-api.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import type { ResultStore } from '../../../../src/store/result-store.js';
import { LIMITS, PROTOCOL, sampleSystem, signatureOf, SYSTEM } from '../../../store/sample-measurement.js';
import { preparedOf, recipeTogether } from '../support/measured-bricks.js';
import { assertRefused } from '../../../rpc/support/refusal.js';

const SETTINGS: MeasureSettings = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

function kernel(sequenceIndex: string, name: string, ...runMs: readonly number[]): KernelTrace {
  const none = { opName: '', executionProvider: '', shape: '', inputShape: '', inputTypes: '', outputTypes: '' };
  return { sequenceIndex, name, elementType: '', ...none, runMs };
}

/**
 * A kernel, one that the runtime split in two, and a loop whose body runs twice; k3 has no event. The model has no k4.
 * Bodies of events that are no kernels of the model count for nothing.
 */
const TRACE: LayerTrace = {
  untracedMs: [10, 10, 10],
  tracedMs: [11, 11, 11],
  kernels: [
    kernel('0', 'k0', 1, 1, 1),
    kernel('1', 'k1', 2, 2, 2),
    kernel('2', 'k1.reorder', 0.5, 0.5, 0.5),
    kernel('3', 'k2', 4, 4, 4),
    kernel('3-0-0', 'body', 1, 1, 1, 1, 1, 1),
    kernel('4', 'k4', 1, 1, 1),
    kernel('5', 'of the runtime', 1, 1, 1),
    kernel('5-0-0', 'body', 1, 1, 1),
    kernel('10', 'of the runtime', 1, 1, 1),
    kernel('10-0-0', 'body', 1, 1, 1),
  ],
};

const KERNELS = [{ ms: 1, innerRuns: 0 }, { ms: 2.5, innerRuns: 0 }, { ms: 4, innerRuns: 2 }, null];

const NAMES = ['conv', 'pool', 'loop', 'gone'];

function modelOf(graph: number, changes: Partial<PreparedModel> = {}): PreparedModel {
  const benchmark = { signature: signatureOf(graph), model: new Uint8Array(), inputs: [] };
  return { ...preparedOf(recipeTogether([1])), toCheck: () => ({ benchmark, names: NAMES }), ...changes };
}

/** Checks models on an agent that gives this trace. */
async function check(
  models: readonly PreparedModel[],
  store: ResultStore,
  {
    trace = () => Promise.resolve(TRACE),
    again = false,
    signal = new AbortController().signal,
    system = SYSTEM,
    settings = SETTINGS,
  }: Partial<{
    trace: () => Promise<LayerTrace>;
    again: boolean;
    signal: AbortSignal;
    system: System;
    settings: MeasureSettings;
  }> = {},
) {
  const asked: Parameters<BenchmarkAgent['trace']>[] = [];
  const agent: BenchmarkAgent = {
    ...createFakeAgent({ latencyOf: () => 1 }),
    trace: (...request) => {
      asked.push(request);
      return trace();
    },
  };
  const events: unknown[] = [];
  const context = { agent, store, signal, onEvent: (event: unknown) => void events.push(event) };
  const { runs, wallMs } = await checkModels(models, system, settings, context, again);
  const results = runs.map((run) => (run?.kind === 'run' ? [run.wholeMs, run.kernels, run.names] : run));
  return { runs, wallMs, results, asked, graphs: asked.map(([{ benchmark }]) => benchmark.signature), events };
}

const RESULT = [10, KERNELS, NAMES];

const failed = (reason: string) => ({ kind: 'failed', reason });

describe('checking the kernels of a model', () => {
  test('sums the times of each kernel in one run of its graph, which is optimized already', async () => {
    const { signal } = new AbortController();
    const model = modelOf(1);
    const { results, asked } = await check([model], await openMemoryStore(), { signal });
    assert.deepEqual(results, [RESULT]);
    const { benchmark } = typeof model.toCheck === 'function' ? await model.toCheck() : assert.fail();
    const runOptions = { ...SYSTEM.runOptions, optimizationLevel: 'disabled' };
    const request = { benchmark, runOptions, protocol: protocolOfComposite(PROTOCOL), limits: LIMITS };
    assert.deepEqual(asked, [[request, 'APPLICATION_TRACE', { signal }]]);
  });

  test('runs each graph once, also in later evaluations, unless it is asked for again', async () => {
    const store = await openMemoryStore();
    const graphsOf = async (models: readonly PreparedModel[], again = false) => {
      const { results, graphs } = await check(models, store, { again });
      assert.deepEqual(results, [RESULT, RESULT]);
      return graphs;
    };
    const one = signatureOf(1);
    const two = signatureOf(2);
    assert.deepEqual(await graphsOf([modelOf(1), modelOf(2)]), [one, two]);
    assert.deepEqual(await graphsOf([modelOf(1), modelOf(2)]), []);
    assert.deepEqual(await graphsOf([modelOf(1), modelOf(2)], true), [one, two]);
  });

  test('does not take a run on another system, or by another protocol, for its own', async () => {
    const store = await openMemoryStore();
    const slower = { ...TRACE, untracedMs: [20, 20, 20] };
    const system = sampleSystem({ processor: 'another' });
    const settings = { ...SETTINGS, protocol: { ...PROTOCOL, runs: 7 } };
    const wholeMs = async (options: Parameters<typeof check>[2]): Promise<number | undefined> => {
      const { runs } = await check([modelOf(1)], store, options);
      return runs[0]?.kind === 'run' ? runs[0].wholeMs : undefined;
    };
    assert.equal(await wholeMs({}), 10);
    for (const elsewhere of [{ system }, { settings }]) {
      assert.equal(await wholeMs({ ...elsewhere, trace: () => Promise.resolve(slower) }), 20);
      assert.equal(await wholeMs(elsewhere), 20);
    }
    assert.equal(await wholeMs({}), 10);
  });

  test('announces a run with the name of its model, and says what it cost', async () => {
    const startMs = performance.now();
    const { runs, wallMs, events } = await check([modelOf(1)], await openMemoryStore());
    assert.deepEqual(events, [{ kind: 'measuring', label: 'checking model', done: 0, total: 0 }]);
    const [run] = runs;
    assert.ok(run?.kind === 'run' && run.costMs <= wallMs && wallMs <= performance.now() - startMs);
  });

  test('says why a model cannot be checked, and checks the others', async () => {
    const models = [
      modelOf(1, { toCheck: 'no kernels' }),
      modelOf(2, { toCheck: undefined }),
      modelOf(3, { refusal: 'too large' }),
      modelOf(4),
    ];
    const { results } = await check(models, await openMemoryStore());
    const noProfile = failed('the runtime keeps no profile of its kernels');
    assert.deepEqual(results, [failed('no kernels'), noProfile, undefined, RESULT]);
  });

  for (const code of ['unsupported', 'model', 'timeout', 'cancelled'] satisfies ErrorCode[]) {
    test(`ends with the reason where the run ends with the error '${code}'`, async () => {
      const trace = () => Promise.reject(new PlatformError(code, 'why'));
      assert.deepEqual((await check([modelOf(1)], await openMemoryStore(), { trace })).results, [failed('why')]);
    });
  }

  test('fails where the agent does', async () => {
    const trace = () => Promise.reject(new PlatformError('unavailable', 'the agent is gone'));
    await assertRefused(check([modelOf(1)], await openMemoryStore(), { trace }), 'unavailable');
  });

  test('starts nothing after an interruption', async () => {
    const { results, graphs } = await check([modelOf(1)], await openMemoryStore(), { signal: AbortSignal.abort() });
    assert.deepEqual([results, graphs], [[failed('interrupted before it was checked')], []]);
  });
});
