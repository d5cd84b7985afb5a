import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import type { MeasuredRequest, MeasureRequest, RequestProgress } from '../../../src/agent/benchmark-agent.js';
import { isAbleTo } from '../../../src/agent/agent-description.js';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { protocolOfComposite } from '../../../src/composite/protocol-of-composite.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import type { Measurement } from '../../../src/measurement/measurement.js';
import { measureAll, setupOf } from '../support/measure-one.js';
import { measuringProcessesOf, needsLinux } from '../support/processes.js';
import { agentForSuite } from '../support/running-agent.js';
import {
  benchmarkOf,
  convolution,
  endless,
  failingReshape,
  matMul,
  protocol,
  relu,
  runOptions,
  unknownOperator,
} from '../support/tiny-benchmarks.js';

const AS_IT_IS = { ...runOptions, optimizationLevel: 'disabled' } as const;
const CONTEXT = { footprintBytes: 2 ** 20 };

function together(benchmark: Benchmark, changes: Partial<MeasureRequest> = {}): MeasureRequest {
  return { benchmark, runOptions: AS_IT_IS, ...setupOf(protocol), context: CONTEXT, ...changes };
}

/** Relu on this number of rows; each number is a different brick. */
function brick(rows: number): Benchmark {
  return benchmarkOf({
    inputs: { x: { dims: [rows, 512] } },
    nodes: [{ opType: 'Relu', inputs: ['x'], outputs: ['y'] }],
    outputs: ['y'],
  });
}

function bySignature(measured: readonly MeasuredRequest[]): ReadonlyMap<string, Measurement> {
  return new Map(measured.map(({ measurement }) => [measurement.signature, measurement]));
}

describe('bricks that are measured together', { timeout: 300_000 }, () => {
  const agent = agentForSuite();

  test('have samples, each under its own signature and in its context', async () => {
    const bricks = [matMul, convolution, relu, brick(64)];
    const measured = await measureAll(
      agent().client,
      bricks.map((one) => together(one)),
    );

    assert.deepEqual(
      measured.map(({ index }) => index).toSorted((a, b) => a - b),
      [0, 1, 2, 3],
    );
    for (const { index, measurement } of measured) {
      const { outcome, signature, context, costMs, sessionMs, system } = measurement;
      assert.equal(signature, bricks[index]?.signature);
      assert.deepEqual(context, CONTEXT);
      assert.ok(outcome.kind === 'samples');
      assert.equal(outcome.runMs.length, protocolOfComposite(protocol).runs);
      assert.ok(outcome.runMs.every((ms) => ms > 0) && (outcome.overheadMs ?? -1) >= 0);
      assert.ok(costMs >= sessionMs && sessionMs > 0);
      assert.equal(system.runOptions.optimizationLevel, 'disabled');
    }
  });

  test('take longer where they do more work', async () => {
    const small = brick(16);
    const large = brick(4096);
    const found = bySignature(await measureAll(agent().client, [together(small), together(large)]));
    const fastest = (benchmark: Benchmark): number => {
      const outcome = found.get(benchmark.signature)?.outcome;
      return outcome?.kind === 'samples' ? Math.min(...outcome.runMs) : NaN;
    };
    assert.ok(fastest(large) > 3 * fastest(small), `${fastest(large)} and ${fastest(small)} ms`);
  });

  for (const [what, culprit, reason] of [
    ['an operator that the runtime does not have', unknownOperator, 'unsupported'],
    ['a node that fails while it runs', failingReshape, 'run_failed'],
  ] as const) {
    test(`${what} fails only its own brick`, async () => {
      const bricks = [matMul, culprit, relu, brick(64), convolution];
      const found = bySignature(
        await measureAll(
          agent().client,
          bricks.map((one) => together(one)),
        ),
      );
      for (const one of bricks) {
        const outcome = found.get(one.signature)?.outcome;
        if (one === culprit) assert.equal(outcome?.kind === 'failure' && outcome.reason, reason);
        else assert.equal(outcome?.kind, 'samples');
      }
    });
  }

  test('one that needs more memory than the limit fails before it is tried, and the others are measured', async () => {
    const inputs = matMul.inputs.map((input) => ({ ...input, dims: [1_000_000, 1_000_000] }));
    const huge = { ...matMul, signature: 'f'.repeat(64), inputs };
    const found = bySignature(await measureAll(agent().client, [together(relu), together(huge)]));
    const outcome = found.get(huge.signature)?.outcome;
    assert.equal(outcome?.kind === 'failure' && outcome.reason, 'out_of_memory');
    assert.equal(found.get(relu.signature)?.outcome.kind, 'samples');
  });

  test('a killed process fails only the brick that it was measuring', { skip: needsLinux }, async () => {
    const measured: MeasuredRequest[] = [];
    // Different footprints are different graphs: the first graph is done when the second begins.
    const requests = [together(relu), together(endless, { context: { footprintBytes: 2 ** 22 } })];
    const onProgress = ({ phase, index }: RequestProgress): void => {
      if (index === 1 && phase === 'running') {
        for (const pid of measuringProcessesOf(process.pid)) process.kill(pid, 'SIGKILL');
      }
    };
    for await (const one of agent().client.measure(requests, { onProgress })) measured.push(one);
    const outcomes = measured.map(({ measurement: { outcome } }) => outcome);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.kind === 'failure' ? outcome.reason : outcome.kind)),
      ['samples', 'crashed'],
    );
  });

  test('an interruption keeps the measurements that were yielded before it', async () => {
    const controller = new AbortController();
    const measured: MeasuredRequest[] = [];
    const requests = [together(relu), together(endless, { context: { footprintBytes: 2 ** 22 } })];
    const measuring = async (): Promise<void> => {
      for await (const one of agent().client.measure(requests, { signal: controller.signal })) {
        measured.push(one);
        controller.abort();
      }
    };
    await assertRefused(measuring(), 'cancelled');
    assert.deepEqual(
      measured.map(({ index }) => index),
      [0],
    );
  });

  test('and a benchmark that is measured alone come back in one answer', async () => {
    const requests = [together(relu), { benchmark: matMul, runOptions, ...setupOf(protocol) }, together(convolution)];
    const measured = await measureAll(agent().client, requests);
    assert.deepEqual(
      measured.map(({ measurement }) => measurement.context?.footprintBytes),
      [CONTEXT.footprintBytes, undefined, CONTEXT.footprintBytes],
    );
  });
});

test('a framework without a profile says that it measures nothing together', async () => {
  const agent = await startAgent({ framework: 'onnxruntime-web' });
  const client = await connectAgent(agent.address);
  try {
    assert.equal(isAbleTo(client.description, 'measure_bricks'), false);
    await assert.rejects(measureAll(client, [together(relu)]), /profile/);
  } finally {
    await client.close();
    await agent.close();
  }
});
