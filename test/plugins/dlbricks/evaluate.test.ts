import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureText } from '../../../plugins/dlbricks/estimate/brick-latency.js';
import fc from '../../support/property.js';
import { evaluateAll } from '../../../plugins/dlbricks/evaluate.js';
import type { EstimateRequest } from '../../../plugins/dlbricks/system-run.js';
import type { EstimateResult } from '../../../plugins/dlbricks/report/evaluation-result.js';
import type { MeasuringContext } from '../../../src/measuring/measuring.js';
import type { EvaluationEvent } from '../../../src/plugin-api.js';
import type { BenchmarkAgent, MeasureOptions, OptimizedGraph } from '../../../src/agent/benchmark-agent.js';
import type { Failure } from '../../../src/agent/failure.js';
import { createFakeAgent, type FakeAgent } from '../../support/fake-agent.js';
import { spreadAgent } from '../../../src/agent/spread/spread-agent.js';
import { PlatformError } from '../../../src/base/errors.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import type { Measurement } from '../../../src/measurement/measurement.js';
import { type RuntimeSettings, DEFAULT_RUNTIME } from '../../../src/measurement/runtime-settings.js';
import { type RunOptions, buildRunOptions } from '../../../src/measurement/system.js';
import { weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import type { LoadedModel } from '../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { PROTOCOL } from '../../store/sample-measurement.js';
import { loadedChain } from './support/chain-model.js';
import { type GeneratedModel, generatedModels } from './support/generated-graph.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { evaluate, requestFor } from './support/evaluate.js';

/** A latency from 1 to 17 ms that depends only on the benchmark's signature. */
function latencyBySignature({ signature }: Benchmark): number {
  return 1 + parseInt(signature.slice(0, 4), 16) / 4096;
}

const models = [loadedChain('one', 'Relu', 'Neg', 'Relu', 'Abs'), loadedChain('two', 'Abs', 'Neg', 'Exp')];
/** Relu, Neg, Abs and Exp. */
const UNIQUE = 4;

interface Recorded {
  readonly result: EstimateResult;
  readonly events: readonly EvaluationEvent[];
}

async function run(
  request: EstimateRequest,
  context: Partial<MeasuringContext> & Pick<MeasuringContext, 'agent' | 'store'>,
): Promise<Recorded> {
  const events: EvaluationEvent[] = [];
  const signal = new AbortController().signal;
  const result = await evaluate(request, { signal, onEvent: (event) => void events.push(event), ...context });
  return { result, events };
}

/** A fake agent that returns the inferred values which the generator of the model knows. */
function agentFor({ inferred }: GeneratedModel): FakeAgent {
  const values = new Map(
    [...inferred].map(([name, { content, ...type }]) => [name, { ...type, content: content ?? new Uint8Array() }]),
  );
  return createFakeAgent({ latencyOf: latencyBySignature, inferredValuesOf: () => values });
}

describe('settings of the runtime', () => {
  const optimizedOf = (benchmark: Benchmark): OptimizedGraph => ({ benchmark, values: new Map(), costMs: 0 });
  const kernels = (runtime: Partial<RuntimeSettings>): EstimateRequest => {
    const runOptions = buildRunOptions(1, {}, { ...DEFAULT_RUNTIME, ...runtime });
    return requestFor(models, {
      cut: 'kernel',
      runOptions,
      precision: { targetError: 0.05, repeatLimit: 0, leastRepeatMs: 0 },
    });
  };

  test('share the bricks that they have in common, which are measured once', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature, optimizedOf });
    const context = { agent, store: await openMemoryStore(), signal: new AbortController().signal, onEvent: () => {} };
    const settings = [
      {},
      { optimization_level: 'basic' },
      { execution_mode: 'parallel', inter_op_threads: 2 },
    ] as const;
    const results = await evaluateAll(settings.map(kernels), context);
    const firsts = results[0]?.models.map(({ estimate }) => estimate.sequential?.ms);
    assert.ok(firsts?.every((ms) => ms !== undefined && ms > 0));
    for (const { models: estimated } of results) {
      assert.deepEqual(
        estimated.map(({ estimate }) => estimate.sequential?.ms),
        firsts,
      );
    }
    const own = createFakeAgent({ latencyOf: latencyBySignature, optimizedOf });
    await evaluateAll([kernels({})], { ...context, agent: own, store: await openMemoryStore() });
    assert.deepEqual(agent.measured.toSorted(), own.measured.toSorted());
  });

  test('of the optimizer that change nothing are named with the models', async () => {
    const withoutNeg = loadedChain('other', 'Relu', 'Abs').model;
    const otherAtBasic = (benchmark: Benchmark, { optimizationLevel }: RunOptions): OptimizedGraph => {
      const isOther = optimizationLevel === 'basic' && parseModel(benchmark.model, 'test').graph.nodes.length === 4;
      return optimizedOf(isOther ? weightlessBenchmark(withoutNeg) : benchmark);
    };
    const agent = createFakeAgent({ latencyOf: latencyBySignature, optimizedOf: otherAtBasic });
    const store = await openMemoryStore();
    const unchangedBy = async (runtime: Partial<RuntimeSettings>) => {
      return (await run(kernels(runtime), { agent, store })).result.unchanged;
    };
    assert.deepEqual(await unchangedBy({ optimization_level: 'basic' }), ['two']);
    assert.deepEqual(await unchangedBy({ optimization_level: 'extended' }), ['one', 'two']);
    assert.deepEqual(await unchangedBy({ session: { 'session.disable_prepacking': '1' } }), []);
    assert.deepEqual(await unchangedBy({}), []);
  });
});

describe('an evaluation', () => {
  test('has the same estimates if several machines share it, and reports the spread between them', async () => {
    const machine = (name: string) => ({ name, agent: createFakeAgent({ latencyOf: latencyBySignature }) });
    const machines = [machine('a'), machine('b')] as const;
    const agent = spreadAgent(machines, { tell: () => {} });
    const shared = await run(requestFor(models), { agent, store: await openMemoryStore() });
    const alone = await run(requestFor(models), { agent: machine('c').agent, store: await openMemoryStore() });
    const estimatesOf = ({ result }: Recorded) => result.models.map(({ estimate }) => estimate);
    assert.deepEqual(estimatesOf(shared), estimatesOf(alone));
    assert.deepEqual(shared.result.machines, { machines: 2, benchmarks: 1, relative: 0 });
    assert.equal(alone.result.machines, undefined);
    for (const { agent: one } of machines) assert.ok(one.measured.length > 0);
  });

  test('counts its measurements from the first event to the last, without going back', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const request = requestFor(models, { measureEndToEnd: true });
    const { events } = await run(request, { agent, store: await openMemoryStore() });
    const counts = events.flatMap((event) => (event.kind === 'measuring' ? [event] : []));
    assert.deepEqual(
      counts.slice(0, 2).map(({ label, done, total }) => [label, done, total]),
      [
        ['preparing one (0 of 2 done)', 0, 0],
        ['preparing two (0 of 2 done)', 0, 0],
      ],
    );
    for (const [i, { done, total }] of counts.entries()) {
      assert(done >= (counts[i - 1]?.done ?? 0) && total >= (counts[i - 1]?.total ?? 0) && done <= total);
    }
    // The bricks, and each model twice.
    assert.equal(counts.at(-1)?.total, UNIQUE + 4);
  });

  test('measures every brick once and adds up the latencies', async () => {
    await fc.assert(
      fc.asyncProperty(generatedModels(), fc.integer({ min: 1, max: 5 }), async (generated, granularity) => {
        const agent = agentFor(generated);
        const loaded: LoadedModel = {
          name: 'model',
          model: generated.model,
          symbols: [],
          notes: [],
          assumed: [],
          sizes: [],
        };
        const { result } = await run(requestFor([loaded], { granularity }), { agent, store: await openMemoryStore() });

        const [model] = result.models;
        assert.ok(model !== undefined);
        assert.equal(new Set(agent.measured).size, agent.measured.length);
        assert.equal(agent.measured.length, model.estimate.uniqueBricks);
        assert.ok(model.estimate.isWhole);
        const shortest = Math.min(
          ...result.bricks.map(({ outcome }) => (outcome.kind === 'samples' ? (outcome.runMs[0] ?? 0) : 0)),
        );
        assert.ok((model.estimate.sequential?.ms ?? 0) >= shortest * model.estimate.sequences - 1e-9);
        assert.ok((model.estimate.parallel?.ms ?? 0) <= (model.estimate.sequential?.ms ?? 0) + 1e-9);
      }),
      { numRuns: 20 },
    );
  });

  test('together with others measures common bricks once if the protocol is the same, and again for another protocol', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const [one, two] = models.map((model) => requestFor([model]));
    assert.ok(one !== undefined && two !== undefined);
    const shorter = { ...one, protocol: { ...PROTOCOL, runs: PROTOCOL.runs - 1 } };
    const events: EvaluationEvent[] = [];
    const context = { agent, store: await openMemoryStore(), signal: new AbortController().signal };
    const onEvent = (event: EvaluationEvent): void => void events.push(event);
    const results = await evaluateAll([one, two, shorter], { ...context, onEvent });
    // Relu, Neg and Abs, then Exp, then the first three with the other protocol.
    assert.deepEqual(
      results.map(({ measured }) => measured),
      [3, 1, 3],
    );
    const runsOf = (result: EstimateResult | undefined): readonly number[] =>
      (result?.bricks ?? []).map(({ protocol }) => protocol.runs);
    assert.deepEqual([...new Set(runsOf(results[0]))], [PROTOCOL.runs]);
    assert.deepEqual([...new Set(runsOf(results[2]))], [PROTOCOL.runs - 1]);
    // One count over all prepared models in the labels, two at a time, then one count over all measurements.
    const measuring = events.flatMap((event) => (event.kind === 'measuring' ? [event] : []));
    const prepared = measuring.slice(0, 3).map(({ label }) => /\((\d of \d) done\)$/.exec(label)?.[1]);
    assert.deepEqual(prepared, ['0 of 3', '0 of 3', '1 of 3']);
    const counts = measuring.map(({ done, total }) => `${done}/${total}`);
    assert.deepEqual(counts.slice(0, 3), ['0/0', '0/0', '0/0']);
    assert.deepEqual(counts.slice(3), ['0/7', '1/7', '2/7', '3/7', '4/7', '5/7', '6/7']);
  });

  test('measures bricks that models have in common once', async () => {
    const latencies: Record<string, number> = { Relu: 1, Neg: 10, Abs: 100, Exp: 1000 };
    const agent = createFakeAgent({ latencyOf: (benchmark) => latencies[operatorOf(benchmark)] ?? NaN });
    const { result } = await run(requestFor(models), { agent, store: await openMemoryStore() });

    assert.equal(agent.measured.length, UNIQUE);
    assert.deepEqual([result.measured, result.uniqueBricks, result.sequences], [UNIQUE, UNIQUE, 7]);
    assert.deepEqual(
      result.models.map(({ estimate, endToEnd }) => [
        estimate.name,
        Math.round(estimate.sequential?.ms ?? 0),
        endToEnd,
      ]),
      [
        ['one', 112, undefined],
        ['two', 1110, undefined],
      ],
    );
  });

  test('measures nothing the second time, and gives the same result', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const store = await openMemoryStore();
    const request = requestFor(models, { measureEndToEnd: true });
    const first = await run(request, { agent, store });
    const measuredBefore = agent.measured.length;
    const second = await run(request, { agent, store });

    assert.equal(first.result.measured, UNIQUE + 2 * models.length);
    assert.equal(agent.measured.length, measuredBefore);
    const { costs: firstCosts, ...firstResult } = first.result;
    const { costs: secondCosts, ...secondResult } = second.result;
    assert.deepEqual(secondResult, { ...firstResult, measured: 0 });
    const spentMs = (measurements: readonly (Measurement | undefined)[]): number =>
      measurements.reduce((sum, measurement) => sum + (measurement?.costMs ?? 0), 0);
    const endToEnds = first.result.models.map(({ endToEnd }) => endToEnd);
    assert.deepEqual(
      [secondCosts?.bricksFirst, secondCosts?.modelsFirst, secondCosts?.modelsAgain],
      [
        { nowMs: 0, beforeMs: spentMs(first.result.bricks) },
        { nowMs: 0, beforeMs: spentMs(endToEnds.map((one) => one?.first)) },
        { nowMs: 0, beforeMs: spentMs(endToEnds.map((one) => one?.repeat)) },
      ],
    );
    assert.ok((firstCosts?.bricksFirst.nowMs ?? 0) > 0 && firstCosts?.bricksFirst.beforeMs === 0);
  });

  test('with one more model measures only the new bricks', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const store = await openMemoryStore();
    await run(requestFor(models), { agent, store });
    const { result, events } = await run(requestFor([...models, loadedChain('three', 'Relu', 'Cos')]), {
      agent,
      store,
    });

    assert.equal(result.measured, 1);
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'planned'),
      [
        {
          kind: 'planned',
          summary: '9 layers; 5 different ones (bricks); 1 measurement to take, 4 known already',
          known: UNIQUE,
          toMeasure: 1,
        },
      ],
    );
  });

  test('measures each whole model twice on request', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const request = requestFor(models, { measureEndToEnd: true });
    const { result } = await run(request, { agent, store: await openMemoryStore() });

    for (const { endToEnd } of result.models) {
      assert.ok(endToEnd?.first !== undefined && endToEnd.repeat !== undefined);
      assert.equal(endToEnd.first.occasion, 1);
      assert.equal(endToEnd.repeat.occasion, 2);
      assert.equal(agent.measured.filter((signature) => signature === endToEnd.signature).length, 2);
    }
  });

  test('announces its plan, and shows its progress', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const { events } = await run(requestFor(models), { agent, store: await openMemoryStore() });

    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'measuring' ? [`${event.done}/${event.total} ${event.label}`] : [])),
      [
        ...['0/0 preparing one (0 of 2 done)', '0/0 preparing two (0 of 2 done)'],
        ...['0/4 one: Relu', '1/4 one: Neg', '2/4 one: Abs', '3/4 two: Exp'],
      ],
    );
  });

  test('asks the runtime only about models whose types are not all in the file', async () => {
    const [known] = models;
    assert.ok(known !== undefined);
    const { graph } = known.model;
    const types = new Map([...graph.types].filter(([name]) => graph.inputs.includes(name)));
    const untyped: LoadedModel = { ...known, model: { ...known.model, graph: { ...graph, types } } };
    const store = await openMemoryStore();
    const ignorant = createFakeAgent({ latencyOf: latencyBySignature });
    const knowing = createFakeAgent({
      latencyOf: latencyBySignature,
      inferredValuesOf: () =>
        new Map([...graph.types].map(([name]) => [name, { elementType: 'float32', dims: [1, 4] }])),
    });

    const { result: expected } = await run(requestFor([known]), { agent: ignorant, store });
    const { result: unhelped } = await run(requestFor([untyped, known]), { agent: ignorant, store });
    assert.equal(unhelped.models[0]?.estimate.coverage, 0);
    assert.match(unhelped.models[0].estimate.missing[0]?.reason ?? '', /the fake agent has no runtime/);
    const { result } = await run(requestFor([untyped]), { agent: knowing, store });
    assert.deepEqual(result.models[0]?.estimate, expected.models[0]?.estimate);
  });
});

describe('an interrupted evaluation', () => {
  /** Stops before the benchmark number `stop`, or while it is measured. */
  async function interrupted(stop: number, when: 'between' | 'within', store: ResultStore): Promise<EstimateResult> {
    const controller = new AbortController();
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    let asked = 0;
    const stopping: BenchmarkAgent = {
      ...agent,
      async *measure(requests, options) {
        const onProgress: MeasureOptions['onProgress'] = (progress) => {
          if (when === 'within' && progress.phase === 'preparing' && asked++ === stop) controller.abort();
          options?.onProgress?.(progress);
        };
        for await (const measured of agent.measure(requests, { ...options, onProgress })) {
          if (when === 'between' && ++asked === stop) controller.abort();
          yield measured;
        }
      },
    };
    return (await run(requestFor(models), { agent: stopping, store, signal: controller.signal })).result;
  }

  for (const when of ['between', 'within'] as const) {
    test(`${when} two measurements keeps its measurements, and the next one continues from them`, async () => {
      const store = await openMemoryStore();
      const stopped = await interrupted(2, when, store);
      const agent = createFakeAgent({ latencyOf: latencyBySignature });
      const { result } = await run(requestFor(models), { agent, store });

      assert.deepEqual([stopped.interrupted, stopped.measured], [true, 2]);
      assert.deepEqual([result.interrupted, result.measured], [false, UNIQUE - 2]);
      assert.equal(agent.measured.length, UNIQUE - 2);
      const uninterrupted = await run(requestFor(models), { agent, store: await openMemoryStore() });
      assert.deepEqual(result.models, uninterrupted.result.models);
    });
  }

  test('names the bricks that its estimates lack', async () => {
    const { models: results } = await interrupted(2, 'between', await openMemoryStore());
    assert.deepEqual(
      results.map(({ estimate }) => [
        estimate.coverage,
        estimate.missing.map(({ operators, reason }) => [...operators, reason]),
      ]),
      [
        [3 / 4, [['Abs', 'not measured on this system']]],
        [
          1 / 3,
          [
            ['Abs', 'not measured on this system'],
            ['Exp', 'not measured on this system'],
          ],
        ],
      ],
    );
  });

  test('before its first measurement has no estimate', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const request = requestFor(models, { measureEndToEnd: true });
    const signal = AbortSignal.abort();
    const { result } = await run(request, { agent, store: await openMemoryStore(), signal });

    assert.deepEqual([result.measured, result.interrupted, agent.measured.length], [0, true, 0]);
    for (const { estimate, endToEnd } of result.models) {
      assert.equal(estimate.sequential, undefined);
      assert.equal(endToEnd?.first, undefined);
    }
  });
});

describe('a brick that fails', () => {
  const failingAt = (operator: string, failure: Failure): FakeAgent =>
    createFakeAgent({ latencyOf: (benchmark) => (operatorOf(benchmark) === operator ? failure : 1) });
  const failure: Failure = { reason: 'out_of_memory', message: 'it takes too much' };

  test('lowers the coverage of the models that have it, with a warning, and nothing else', async () => {
    const agent = failingAt('Exp', failure);
    const { result, events } = await run(requestFor(models), { agent, store: await openMemoryStore() });

    assert.equal(result.measured, UNIQUE);
    assert.equal(result.interrupted, false);
    assert.deepEqual(
      result.models.map(({ estimate }) => [estimate.coverage, estimate.missing.map(({ reason }) => reason)]),
      [
        [1, []],
        [2 / 3, [failureText({ kind: 'failure', ...failure })]],
      ],
    );
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'note'),
      [{ kind: 'note', level: 'warning', message: 'two: Exp: out_of_memory: it takes too much' }],
    );
  });

  test('is not tried again', async () => {
    const store = await openMemoryStore();
    const agent = failingAt('Exp', failure);
    await run(requestFor(models), { agent, store });
    const { result } = await run(requestFor(models), { agent, store });

    assert.equal(result.measured, 0);
    assert.equal(result.models[1]?.estimate.coverage, 2 / 3);
  });

  test('is tried again if it crashed', async () => {
    const store = await openMemoryStore();
    await run(requestFor(models), { agent: failingAt('Exp', { reason: 'crashed', message: 'gone' }), store });
    const { result } = await run(requestFor(models), { agent: createFakeAgent({ latencyOf: () => 1 }), store });

    assert.equal(result.measured, 1);
    assert.equal(result.models[1]?.estimate.coverage, 1);
  });
});

describe('an evaluation ends', () => {
  test('if the store fails, since further measurements could not be kept', async (t) => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const full = await openMemoryStore();
    t.mock.method(full, 'putMeasurement', () => Promise.reject(new PlatformError('storage', 'the disk is full')));

    await assertRefused(run(requestFor(models), { agent, store: full }), 'storage', /the disk is full/);
    assert.equal(agent.measured.length, 1);
  });

  test('if the agent does not answer any more; its earlier measurements are kept', async () => {
    const agent = createFakeAgent({ latencyOf: latencyBySignature });
    const store = await openMemoryStore();
    const dying: BenchmarkAgent = {
      ...agent,
      async *measure(...asked) {
        for await (const measured of agent.measure(...asked)) {
          yield measured;
          if (agent.measured.length === 2) throw new PlatformError('unavailable', 'the agent does not answer');
        }
      },
    };

    await assertRefused(run(requestFor(models), { agent: dying, store }), 'unavailable');
    const { result } = await run(requestFor(models), { agent, store });
    assert.equal(result.measured, UNIQUE - 2);
  });
});

/** The operator of a brick of one layer. */
function operatorOf(benchmark: Benchmark): string {
  return 'operators' in benchmark ? String(benchmark.operators) : '';
}
