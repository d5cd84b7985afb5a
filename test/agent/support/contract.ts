import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { type Ability, agentDescriptionSchema, isAbleTo } from '../../../src/agent/agent-description.js';
import type { BenchmarkAgent, MeasurePhase, MeasureProgress } from '../../../src/agent/benchmark-agent.js';
import type { InferredValue } from '../../../src/onnx/layers/layer-graph.js';
import { measurementSchema } from '../../../src/measurement/measurement.js';
import { AS_IT_IS } from '../../../src/measurement/as-it-is.js';
import { ANY_RUN, identifySystem, systemSchema } from '../../../src/measurement/system.js';
import { DEFAULT_REMEASURE } from '../../../src/measurement/remeasure.js';
import { KnownResults } from '../../../src/measuring/known-results.js';
import { Measuring } from '../../../src/measuring/measuring.js';
import { planMeasuring } from '../../../src/measuring/measuring-plan.js';
import { RunProgress } from '../../../src/measuring/run-progress.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { benchmarkOf, convolution, matMul, protocol, relu, runOptions, unknownOperator } from './tiny-benchmarks.js';
import { measureAll, measureOne, setupOf } from './measure-one.js';

/** Flattens x by means of its shape. An agent must infer {@link inferredOfFlatten} from it. */
export const flatten = benchmarkOf({
  inputs: { x: { dims: [2, 3, 4] } },
  nodes: [
    { opType: 'Shape', inputs: ['x'], outputs: ['shape'] },
    { opType: 'ReduceProd', inputs: ['shape'], outputs: ['size'] },
    { opType: 'Reshape', inputs: ['x', 'size'], outputs: ['y'] },
  ],
  outputs: ['y'],
});

export const inferredOfFlatten: ReadonlyMap<string, InferredValue> = new Map([
  ['shape', { elementType: 'int64', dims: [3], content: new Uint8Array(new BigInt64Array([2n, 3n, 4n]).buffer) }],
  ['size', { elementType: 'int64', dims: [1], content: new Uint8Array(new BigInt64Array([24n]).buffer) }],
  ['y', { elementType: 'float32', dims: [24] }],
]);

const PHASES: readonly MeasurePhase[] = ['waiting', 'preparing', 'running'];

function isOrdered(reports: readonly MeasureProgress[]): boolean {
  return reports.every((report, i) => {
    const before = reports[i - 1] ?? { phase: 'waiting', runsDone: 0, runsTotal: Infinity };
    const forward = PHASES.indexOf(report.phase) >= PHASES.indexOf(before.phase);
    return forward && report.runsDone >= before.runsDone && report.runsDone <= report.runsTotal;
  });
}

/** Ends a test of something that an agent may lack. @returns whether the agent lacks it */
function lacks(t: TestContext, { description }: BenchmarkAgent, ability: Ability): boolean {
  const isAble = isAbleTo(description, ability);
  if (!isAble) t.skip(`the agent says that it cannot ${ability.replace('_', ' ')}`);
  return !isAble;
}

/**
 * Requirements on every BenchmarkAgent. It must fail `unknownOperator` as unsupported, and infer `flatten` if it infers
 * types at all.
 *
 * @param connect may be called several times; each agent is closed
 */
export function describeBenchmarkAgent(name: string, connect: () => Promise<BenchmarkAgent>): void {
  describe(`${name} is a benchmark agent`, () => {
    let agent: BenchmarkAgent;
    before(async () => {
      agent = await connect();
    });
    after(() => agent.close());

    test('its description is valid, and is a system with any run options', () => {
      const { description } = agent;
      assert.deepEqual(agentDescriptionSchema.parse(description), description);
      for (const threads of [1, 2]) {
        const system = identifySystem(description, { ...runOptions, threads });
        assert.deepEqual(systemSchema.parse(system), system);
      }
    });

    test('a measurement states its benchmark, setup and system', async () => {
      const measurement = await measureOne(agent, relu, runOptions, protocol);
      const { signature, system, protocol: measuredBy, occasion, limits } = measurement;

      assert.equal(signature, relu.signature);
      assert.deepEqual(system, identifySystem(agent.description, runOptions));
      assert.deepEqual({ protocol: measuredBy, occasion, limits }, setupOf(protocol));
    });

    test('a stored measurement is found by every later connection', async () => {
      const store = await openMemoryStore();
      const task = { label: 'relu', request: { benchmark: relu, runOptions, ...setupOf(protocol) }, work: 1 };
      const taken: number[] = [];
      for (let connection = 0; connection < 3; connection++) {
        const again = await connect();
        const system = identifySystem(again.description, ANY_RUN);
        const results = new KnownResults();
        const { missing } = await planMeasuring([task], results, { system, store, remeasure: DEFAULT_REMEASURE });
        const context = { agent: again, store, signal: new AbortController().signal, onEvent: () => undefined };
        const progress = new RunProgress();
        progress.add(missing);
        taken.push(await new Measuring(context, system, results, progress).measure(missing));
        await again.close();
      }
      assert.deepEqual(taken, [1, 0, 0]);
    });

    test('a measurement has as many runs as asked for, can be stored, and costs at least its runs', async () => {
      const measurement = await measureOne(agent, relu, runOptions, protocol);
      const { outcome, costMs, sessionMs } = measurement;

      assert.deepEqual(measurementSchema.parse(measurement), measurement);
      assert.ok(outcome.kind === 'samples');
      assert.deepEqual([outcome.warmupMs.length, outcome.runMs.length], [protocol.warmupRuns, protocol.runs]);
      assert.ok(costMs >= sessionMs + outcome.runMs.reduce((sum, ms) => sum + ms, 0));
    });

    test('progress goes from preparing to running and ends with all runs done', async () => {
      const reports: MeasureProgress[] = [];
      await measureOne(agent, relu, runOptions, protocol, { onProgress: (progress) => reports.push(progress) });

      assert.ok(isOrdered(reports), JSON.stringify(reports));
      const runs = protocol.warmupRuns + protocol.runs;
      assert.deepEqual(reports.at(-1), { phase: 'running', runsDone: runs, runsTotal: runs, index: 0, together: 1 });
    });

    test('a measurement that is cancelled before it starts gives no result', async () => {
      const signal = AbortSignal.abort();
      await assertRefused(measureOne(agent, relu, runOptions, protocol, { signal }), 'cancelled');
    });

    test('types are inferred, with the content of small integers', async (t) => {
      if (lacks(t, agent, 'infer_types')) return;
      const values = await agent.inferTypes(flatten);
      const comparable = [...values].map(([value, { content, ...rest }]) => {
        return [value, content === undefined ? rest : { ...rest, content: Uint8Array.from(content) }];
      });

      assert.deepEqual(new Map(comparable as [string, InferredValue][]), inferredOfFlatten);
    });

    test('an optimized graph runs as it is', async (t) => {
      if (lacks(t, agent, 'optimize')) return;
      const { benchmark, costMs } = await agent.optimize(convolution, runOptions);
      assert.ok(costMs >= 0);
      const { outcome } = await measureOne(agent, benchmark, AS_IT_IS, protocol);
      assert.equal(outcome.kind, 'samples', JSON.stringify(outcome));
    });

    test('one run describes the same outputs each time', async (t) => {
      if (lacks(t, agent, 'run_once')) return;
      const ran = await agent.runOnce(relu, runOptions, { elements: 24 });
      const { elementType, dims, elements, first, norm, notFinite, stride } = ran.get('y') ?? {};
      assert.deepEqual([elementType, dims, stride, notFinite, elements?.length], ['float32', [2, 3, 4], 1, 0, 24]);
      assert.deepEqual(first, elements?.slice(0, 8));
      assert.ok(elements !== undefined && elements.every((element) => element >= 0));
      const squares = elements.reduce((sum, element) => sum + element ** 2, 0);
      assert.ok(Math.abs((norm ?? 0) - Math.sqrt(squares)) < 1e-9);
      assert.deepEqual(await agent.runOnce(relu, runOptions, { elements: 24 }), ran);
    });

    test('one run describes every value where it is asked to, with fewer elements', async (t) => {
      if (lacks(t, agent, 'run_once')) return;
      const ran = await agent.runOnce(flatten, runOptions, { everyValue: true, elements: 5 });
      assert.deepEqual(ran.get('shape')?.first, [2, 3, 4]);
      const flat = ran.get('y');
      assert.deepEqual([flat?.stride, flat?.elements.length], [5, 5]);
      assert.equal((await agent.runOnce(flatten, runOptions)).get('y')?.elements.length, 0);
    });

    test('bricks are measured together, each once', async (t) => {
      if (lacks(t, agent, 'measure_bricks')) return;
      const asked = { runOptions: AS_IT_IS, ...setupOf(protocol), context: { footprintBytes: 2 ** 20 } };
      const measured = await measureAll(
        agent,
        [relu, matMul].map((benchmark) => ({ benchmark, ...asked })),
      );
      const kinds = measured.map(({ index, measurement }) => [index, measurement.outcome.kind]);
      assert.deepEqual(kinds.sort(), [
        [0, 'samples'],
        [1, 'samples'],
      ]);
    });

    test('kernels are traced', async (t) => {
      if (lacks(t, agent, 'trace')) return;
      const { limits } = setupOf(protocol);
      const asked = { benchmark: convolution, runOptions, protocol: setupOf(protocol).protocol, limits };
      const { untracedMs, tracedMs, kernels } = await agent.trace(asked, 'FRAMEWORK_TRACE');
      assert.ok(untracedMs.length > 0 && tracedMs.length > 0);
      assert.ok(kernels.some(({ opName }) => opName.includes('Conv')));
    });

    // Last, because an agent may replace its process after a failure, which takes seconds for some runtimes.
    test('a benchmark that cannot run is a failed measurement', async () => {
      const { outcome } = await measureOne(agent, unknownOperator, runOptions, protocol);
      assert.equal(outcome.kind === 'failure' && outcome.reason, 'unsupported');
    });
  });
}
