import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { assertRefused } from '../../rpc/support/refusal.js';
import { collect } from '../../../src/base/collect.js';
import type { BenchmarkAgent, MeasuredRequest, MeasureRequest } from '../../../src/agent/benchmark-agent.js';
import { createFakeAgent, type FakeAgent } from '../../support/fake-agent.js';
import { spreadAgent } from '../../../src/agent/spread/spread-agent.js';
import { PlatformError } from '../../../src/base/errors.js';
import { signatureOf } from '../../store/sample-measurement.js';
import { COLD, requestFor, requestsFor } from './requests.js';

const BRICKS = 100;
/** Each machine measures a tenth of the bricks before the work, for the comparison. */
const CHECKED = 10;
const bricks = requestsFor(BRICKS, { context: COLD });

interface Notice {
  readonly level: string;
  readonly message: string;
}

function spreadOver(machines: Readonly<Record<string, BenchmarkAgent>>) {
  const told: Notice[] = [];
  const [first, ...rest] = Object.entries(machines).map(([name, agent]) => ({ name, agent }));
  assert.ok(first !== undefined);
  const agent = spreadAgent([first, ...rest], { tell: (level, message) => told.push({ level, message }) });
  return { agent, told, warnings: () => told.filter(({ level }) => level === 'warning').map(({ message }) => message) };
}

const taking = (ms: number): FakeAgent => createFakeAgent({ latencyOf: () => ms });

/** The same agent, whose process ends in the middle of measurement number `after`. */
function ending(agent: FakeAgent, after: number): BenchmarkAgent {
  let left = after;
  return {
    ...agent,
    async *measure(requests, options) {
      for await (const measured of agent.measure(requests, options)) {
        if (--left <= 0) throw gone();
        yield measured;
      }
    },
  };
}

function gone(): PlatformError {
  return new PlatformError('unavailable', 'the agent does not answer');
}

/** Asserts that every request has exactly one measurement, with its own signature. */
function assertAll(measured: readonly MeasuredRequest[], requests: readonly MeasureRequest[]): void {
  const sorted = measured.toSorted((a, b) => a.index - b.index);
  assert.deepEqual(
    sorted.map(({ index }) => index),
    [...requests.keys()],
  );
  for (const { index, measurement } of sorted) {
    assert.equal(measurement.signature, requests[index]?.benchmark.signature);
  }
}

describe('identical machines', () => {
  it('share the bricks of an evaluation, each measured once, after all have measured the same few bricks', async () => {
    const a = taking(2);
    const b = taking(2);
    const { agent, told } = spreadOver({ a, b });
    assertAll(await collect(agent.measure(bricks)), bricks);
    assert.equal(a.measured.length + b.measured.length, BRICKS + 2 * CHECKED);
    for (const { measured } of [a, b]) assert.ok(measured.length > CHECKED, 'one of them did nothing');
    assert.deepEqual(agent.machineSpread?.(), { machines: 2, benchmarks: 10, relative: 0 });
    assert.deepEqual(told, [
      {
        level: 'info',
        message: '2 machines differ by 0.0 % (standard deviation) in the time of the same 10 measurements',
      },
    ]);
  });

  it('share whole models', async () => {
    const a = taking(2);
    const b = taking(2);
    const { agent } = spreadOver({ a, b });
    const models = requestsFor(6);
    assertAll(await collect(agent.measure(models)), models);
    for (const { measured } of [a, b]) assert.ok(measured.length > 1, 'one of them did nothing');
  });

  it('are compared once', async () => {
    const a = taking(2);
    const b = taking(2);
    const { agent } = spreadOver({ a, b });
    await collect(agent.measure(bricks));
    await collect(agent.measure(bricks.slice(0, 20)));
    assert.equal(a.measured.length + b.measured.length, BRICKS + 20 + 2 * CHECKED);
  });

  it('take over the work of one that ends in the middle', async () => {
    const a = taking(2);
    const b = taking(2);
    const { agent, warnings } = spreadOver({ a: ending(a, CHECKED + 3), b });
    assertAll(await collect(agent.measure(bricks)), bricks);
    assert.deepEqual(warnings(), ['the agent at a is left out, the others do its work: the agent does not answer']);
    assertAll(await collect(agent.measure(bricks)), bricks);
  });

  it('take over the work of one that ends while all are compared', async () => {
    const a = taking(2);
    const b = taking(2);
    const c = taking(2);
    const { agent, warnings } = spreadOver({ a: ending(a, 3), b, c });
    assertAll(await collect(agent.measure(bricks)), bricks);
    assert.equal(warnings().length, 1);
    assert.equal(agent.machineSpread?.()?.machines, 2);
  });

  it('fail with the reason of each when all have ended', async () => {
    const { agent } = spreadOver({ a: ending(taking(2), CHECKED + 3), b: ending(taking(2), CHECKED + 5) });
    await assertRefused(
      collect(agent.measure(bricks)),
      'unavailable',
      /no agent is left; .*submit again:\n {2}[ab]: the agent does not answer\n {2}[ab]: the agent/,
    );
  });

  it('are not all given a request that agents do not survive', async () => {
    const deadly = requestFor(0);
    const mortal = (): BenchmarkAgent => {
      const agent = taking(2);
      return {
        ...agent,
        async *measure(requests, options) {
          for await (const one of agent.measure(requests, options)) {
            if (one.measurement.signature === deadly.benchmark.signature) throw gone();
            yield one;
          }
        },
      };
    };
    const { agent, warnings } = spreadOver({ a: mortal(), b: mortal(), c: mortal(), d: mortal(), e: mortal() });
    // Of two requests, the one with the lower signature serves for the comparison.
    const lower = requestsFor(100).find(({ benchmark }) => benchmark.signature < deadly.benchmark.signature);
    assert.ok(lower !== undefined);
    await assertRefused(
      collect(agent.measure([lower, deadly])),
      'unavailable',
      /^3 agents ended while they took the same measurement, .*the agent does not answer/,
    );
    assert.equal(warnings().length, 3);
  });

  it('leave out a machine that is not identical, and say how much it differs', async () => {
    const a = taking(2);
    const b = taking(2.02);
    const c = taking(1.98);
    const odd = taking(3);
    const { agent, warnings } = spreadOver({ a, b, c, odd });
    const measured = await collect(agent.measure(bricks));
    assertAll(measured, bricks);
    assert.deepEqual(warnings(), [
      'the agent at odd is left out, the others do its work: it takes 49.3 % longer than the median of 4 machines for the same 10 measurements',
    ]);
    assert.equal(odd.measured.length, CHECKED);
    const all = measured.flatMap(({ measurement }) =>
      measurement.outcome.kind === 'samples' ? measurement.outcome.runMs : [],
    );
    assert.ok(Math.max(...all) < 2.1);
    assert.equal(agent.machineSpread?.()?.machines, 3);
  });

  it('cause a warning where two differ, since nothing shows which of them is wrong', async () => {
    const { agent, warnings } = spreadOver({ a: taking(2), b: taking(3) });
    assertAll(await collect(agent.measure(bricks)), bricks);
    // 2 and 3: mean 2.5, standard deviation the square root of 0.5.
    assert.deepEqual(warnings(), [
      '2 machines differ by 28.3 % (standard deviation) in the time of the same 10 measurements',
    ]);
  });

  it('stop at once when the caller stops reading, or when they are cancelled', async () => {
    const a = taking(2);
    const b = taking(2);
    const { agent } = spreadOver({ a, b });
    for await (const { index } of agent.measure(bricks)) {
      assert.ok(index >= 0);
      break;
    }
    assert.ok(a.measured.length + b.measured.length < BRICKS);
    await assertRefused(
      collect(agent.measure(bricks, { signal: AbortSignal.abort(new PlatformError('cancelled', 'enough')) })),
      'cancelled',
    );
  });

  it('all stop when they are cancelled in the middle', async () => {
    const a = taking(2);
    const b = taking(2);
    const { agent, warnings } = spreadOver({ a, b });
    const controller = new AbortController();
    const measured: MeasuredRequest[] = [];
    await assert.rejects(
      async () => {
        for await (const one of agent.measure(bricks, { signal: controller.signal })) {
          if (measured.push(one) === 4) controller.abort(new PlatformError('cancelled', 'enough'));
        }
      },
      { code: 'cancelled', message: 'enough' },
    );
    const atEnd = a.measured.length + b.measured.length;
    assert.ok(atEnd < BRICKS, `${atEnd}`);
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    assert.equal(a.measured.length + b.measured.length, atEnd);
    assert.deepEqual(warnings(), []);
  });

  it('pass on the error of a request that is wrong in itself, and are not left out', async () => {
    const wrong: BenchmarkAgent = {
      ...taking(2),
      inferTypes: () => Promise.reject(new PlatformError('unsupported', 'no such operator')),
    };
    const { agent, warnings } = spreadOver({ a: wrong, b: wrong });
    await assertRefused(agent.inferTypes(requestFor(0).benchmark), 'unsupported');
    assert.deepEqual(warnings(), []);
  });

  it('answer for one that does not answer', async () => {
    const answering: BenchmarkAgent = { ...taking(2), inferTypes: () => Promise.resolve(new Map()) };
    const silent: BenchmarkAgent = { ...taking(2), inferTypes: () => Promise.reject(gone()) };
    const { agent, warnings } = spreadOver({ a: silent, b: answering });
    for (let time = 0; time < 3; time++) assert.equal((await agent.inferTypes(requestFor(0).benchmark)).size, 0);
    assert.equal(warnings().length, 1);
  });

  it('report a failing benchmark once, as one machine does', async () => {
    const failing = signatureOf(7);
    const machine = (): FakeAgent =>
      createFakeAgent({
        latencyOf: ({ signature }) => (signature === failing ? { reason: 'crashed', message: 'it is gone' } : 2),
      });
    const { agent, warnings } = spreadOver({ a: machine(), b: machine() });
    const measured = await collect(agent.measure(bricks));
    const failures = measured.filter(({ measurement }) => measurement.outcome.kind === 'failure');
    assert.deepEqual(
      failures.map(({ index }) => index),
      [7],
    );
    assert.deepEqual(warnings(), []);
  });
});
