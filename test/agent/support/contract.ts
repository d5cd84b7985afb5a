import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BenchmarkAgent, MeasurePhase, MeasureProgress } from '../../../src/agent/benchmark-agent.js';
import type { InferredValue } from '../../../src/onnx/layers/layer-graph.js';
import { PlatformError } from '../../../src/base/errors.js';
import { measurementSchema } from '../../../src/measurement/measurement.js';
import { systemSchema } from '../../../src/measurement/system.js';
import { benchmarkOf, protocol, relu, runOptions, unknownOperator } from './tiny-benchmarks.js';
import { measureOne, setupOf } from './measure-one.js';

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

/** Requirements on every BenchmarkAgent. The agent must fail `unknownOperator` as unsupported and infer `flatten`. */
export function describeBenchmarkAgent(name: string, connect: () => Promise<BenchmarkAgent>): void {
  describe(`${name} is a benchmark agent`, () => {
    let agent: BenchmarkAgent;
    before(async () => {
      agent = await connect();
    });
    after(() => agent.close());

    test('it describes the system for the run options asked for', async () => {
      const options = { ...runOptions, threads: 2 };
      const system = await agent.system(options);

      assert.deepEqual(systemSchema.parse(system), system);
      assert.deepEqual(system.runOptions, options);
    });

    test('run options are part of the system', async () => {
      const one = await agent.system({ ...runOptions, threads: 1 });
      const two = await agent.system({ ...runOptions, threads: 2 });

      assert.notEqual(one.fingerprint, two.fingerprint);
    });

    test('a measurement states its benchmark, setup and system', async () => {
      const {
        signature,
        system,
        protocol: measuredBy,
        occasion,
        limits,
      } = await measureOne(agent, relu, runOptions, protocol);

      assert.equal(signature, relu.signature);
      assert.deepEqual(system, await agent.system(runOptions));
      assert.deepEqual({ protocol: measuredBy, occasion, limits }, setupOf(protocol));
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

    test('a benchmark that cannot run is a failed measurement', async () => {
      const { outcome } = await measureOne(agent, unknownOperator, runOptions, protocol);
      assert.equal(outcome.kind === 'failure' && outcome.reason, 'unsupported');
    });

    test('a measurement that is cancelled before it starts gives no result', async () => {
      const signal = AbortSignal.abort();
      await assert.rejects(
        measureOne(agent, relu, runOptions, protocol, { signal }),
        (error) => error instanceof PlatformError && error.code === 'cancelled',
      );
    });

    test('types are inferred, with the content of small integers', async () => {
      const values = await agent.inferTypes(flatten);
      const comparable = [...values].map(([value, { content, ...rest }]) => {
        return [value, content === undefined ? rest : { ...rest, content: Uint8Array.from(content) }];
      });

      assert.deepEqual(new Map(comparable as [string, InferredValue][]), inferredOfFlatten);
    });
  });
}
