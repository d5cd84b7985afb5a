import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EstimateRequest } from '../../../plugins/dlbricks/system-run.js';
import type { EstimateResult } from '../../../plugins/dlbricks/report/evaluation-result.js';
import type { MeasuringContext } from '../../../src/measuring/measuring.js';
import type { EvaluationEvent } from '../../../src/plugin-api.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { loadedChain } from './support/chain-model.js';
import { CALL_MS, driftingAgent } from './support/drifting-agent.js';
import { near } from '../../support/near.js';
import { evaluate, requestFor } from './support/evaluate.js';

const models = [loadedChain('one', 'Relu', 'Neg', 'Relu', 'Abs'), loadedChain('two', 'Abs', 'Neg', 'Exp')];

/** Relu + Neg + Relu + Abs, and Abs + Neg + Exp; see the agent. */
const ONE_MS = 1 + 2 + 1 + 4 + CALL_MS;
const TWO_MS = 4 + 2 + 8 + CALL_MS;

const request = requestFor(models, { cut: 'kernel' });

async function run(
  changes: Partial<EstimateRequest>,
  context: Pick<MeasuringContext, 'agent' | 'store'> & Partial<MeasuringContext>,
): Promise<{ readonly result: EstimateResult; readonly events: readonly EvaluationEvent[] }> {
  const events: EvaluationEvent[] = [];
  const { signal } = new AbortController();
  const whole = { signal, onEvent: (event: EvaluationEvent) => void events.push(event), ...context };
  return { result: await evaluate({ ...request, ...changes }, whole), events };
}

/** The notes of an evaluation about further occasions. */
function repetitionsIn(events: readonly EvaluationEvent[]): readonly string[] {
  return events.flatMap((event) => {
    return event.kind === 'note' && event.message.startsWith('repeating') ? [event.message] : [];
  });
}

/** A result without its wall times, which are never the same twice. */
function withoutCosts({ costs: _, ...result }: EstimateResult): Omit<EstimateResult, 'costs'> {
  return result;
}

describe('an evaluation at the kernel cut', () => {
  test('measures bricks on a second occasion, and derives intervals from the difference between the two', async () => {
    const agent = driftingAgent(0.99, 1.01);
    const { result, events } = await run({}, { agent, store: await openMemoryStore() });

    const repeated = agent.asked.filter(({ occasion }) => occasion === 2);
    assert.ok(repeated.length > 0 && agent.asked.every(({ occasion }) => occasion <= 2));
    assert.deepEqual(
      repetitionsIn(events).map((message) => parseInt(message.slice('repeating '.length), 10)),
      [repeated.length],
    );
    // The spread of two occasions at 0.99 and 1.01 of their mean.
    const { processes, own } = result.spreads.bricks ?? assert.fail();
    near(processes.relative, Math.SQRT2 * 0.01);
    near(processes.degreesOfFreedom, 1);
    near(own.relative, 0, 1e-6);
    for (const [index, expectedMs] of [ONE_MS, TWO_MS].entries()) {
      const { sequential, coverage } = result.models[index]?.estimate ?? assert.fail();
      assert.equal(coverage, 1);
      assert.ok((sequential?.lowMs ?? NaN) < expectedMs && expectedMs < (sequential?.highMs ?? NaN));
    }
    assert.deepEqual([result.measured, result.bricks.length], [agent.asked.length, agent.asked.length]);
  });

  test('measures at least half of each model’s time twice', async () => {
    const { result } = await run({}, { agent: driftingAgent(1, 1), store: await openMemoryStore() });
    for (const { estimate, limitedBy } of result.models) {
      const timeOf = (occasions: number): number =>
        estimate.parts.reduce((sum, part) => sum + (part.occasions >= occasions ? (part.ms ?? 0) * part.count : 0), 0);
      assert.ok(timeOf(2) >= timeOf(1) / 2, `${timeOf(2)} of ${timeOf(1)} ms`);
      assert.equal(limitedBy, 'target_error');
    }
  });

  const restless = [0.8, 1.25, 0.75, 1.2, 1];

  test('continues while the occasions differ too much, until further ones narrow the interval by less than a tenth', async () => {
    const agent = driftingAgent(...restless);
    const precision = { targetError: 0.001, repeatLimit: 100, leastRepeatMs: 0 };
    const { result } = await run({ precision }, { agent, store: await openMemoryStore() });
    for (const { limitedBy, estimate } of result.models) {
      // Four occasions are nearly as precise as whole models, whose spread is not known but by their bricks.
      assert.equal(limitedBy, 'whole_model');
      assert.ok(estimate.parts.every(({ occasions }) => occasions === 3 || occasions === 4));
    }
    assert.equal(Math.max(...agent.asked.map(({ occasion }) => occasion)), 4);
  });

  test('ends if an agent returns other measurements than the requested ones', async () => {
    const agent = driftingAgent(1, 1.1);
    const lying = {
      ...agent,
      async *measure(...asked: Parameters<typeof agent.measure>) {
        for await (const { index, measurement } of agent.measure(...asked)) {
          const { occasion } = measurement;
          yield { index, measurement: occasion === 1 ? measurement : { ...measurement, signature: '0'.repeat(64) } };
        }
      },
    };
    const { result } = await run({}, { agent: lying, store: await openMemoryStore() });
    assert.equal(result.spreads.bricks, undefined);
    assert.ok(agent.asked.length < 20);
  });

  test('stops when the allowed time is used up', async () => {
    const precision = { targetError: 0.001, repeatLimit: 1, leastRepeatMs: 0 };
    const agent = driftingAgent(...restless);
    const { result } = await run({ precision }, { agent, store: await openMemoryStore() });
    assert.deepEqual(
      result.models.map(({ limitedBy }) => limitedBy),
      ['time', 'time'],
    );
    const costOf = (isFurther: boolean): number =>
      result.bricks.reduce((sum, { occasion, costMs }) => sum + (occasion > 1 === isFurther ? costMs : 0), 0);
    assert.ok(costOf(true) > 0 && costOf(true) <= costOf(false));
  });

  test('measures nothing the second time, and gives the same result', async () => {
    for (const precision of [request.precision, { targetError: 0.001, repeatLimit: 3, leastRepeatMs: 0 }]) {
      const store = await openMemoryStore();
      const changes = { precision, measureEndToEnd: true };
      const first = await run(changes, { agent: driftingAgent(...restless), store });
      const again = driftingAgent(...restless);
      const second = await run(changes, { agent: again, store });
      assert.deepEqual(again.asked, []);
      assert.deepEqual(withoutCosts(second.result), { ...withoutCosts(first.result), measured: 0 });
      assert.deepEqual(repetitionsIn(second.events), []);
    }
  });

  test('that is interrupted between occasions keeps its measurements, and continues from them', async () => {
    const precision = { targetError: 0.001, repeatLimit: 3, leastRepeatMs: 0 };
    const uninterrupted = await run(
      { precision },
      { agent: driftingAgent(...restless), store: await openMemoryStore() },
    );
    const store = await openMemoryStore();
    const controller = new AbortController();
    const agent = driftingAgent(...restless);
    const onEvent = ({ kind }: EvaluationEvent): void => {
      const isRepeating = agent.asked.some(({ occasion }) => occasion === 2);
      if (kind === 'measuring' && isRepeating) controller.abort();
    };
    const { result: stopped } = await run({ precision }, { agent, store, signal: controller.signal, onEvent });
    assert.deepEqual([stopped.interrupted, stopped.measured], [true, agent.asked.length]);
    assert.deepEqual(
      stopped.models.map(({ limitedBy }) => limitedBy),
      [undefined, undefined],
    );

    const rest = driftingAgent(...restless);
    const { result } = await run({ precision }, { agent: rest, store });
    assert.ok(rest.asked.length > 0);
    const measured = uninterrupted.result.measured - stopped.measured;
    assert.deepEqual(withoutCosts(result), { ...withoutCosts(uninterrupted.result), measured });
  });

  test('measures whole models after each brick’s first occasion, and again after everything else', async () => {
    const agent = driftingAgent(1, 1.02);
    const { result } = await run({ measureEndToEnd: true }, { agent, store: await openMemoryStore() });
    const wholes = result.models.map(({ endToEnd }) => endToEnd?.signature);
    const { asked } = agent;
    assert.deepEqual(
      asked.slice(-2).map(({ signature, occasion }) => [signature, occasion]),
      wholes.map((signature) => [signature, 2]),
    );
    const firstOf = (signatures: readonly (string | undefined)[], occasion: number): number =>
      asked.findIndex((one) => one.occasion === occasion && signatures.includes(one.signature));
    const others = asked.map(({ signature }) => signature).filter((signature) => !wholes.includes(signature));
    const firstWhole = firstOf(wholes, 1);
    assert.deepEqual(
      asked.slice(firstWhole, firstWhole + wholes.length).map(({ signature }) => signature),
      wholes,
    );
    assert.ok(asked.slice(0, firstWhole).every(({ occasion }) => occasion === 1));
    assert.equal(firstOf(others, 2), firstWhole + wholes.length);
    assert.deepEqual(
      result.models.map(({ kernels }) => kernels),
      [4, 3],
    );
  });

  test('has no further occasions at the layer cut', async () => {
    const agent = driftingAgent(1, 1.02);
    const { result } = await run({ cut: 'layer' }, { agent, store: await openMemoryStore() });
    assert.deepEqual(new Set(agent.asked.map(({ occasion }) => occasion)), new Set([1]));
    assert.deepEqual(
      [result.spreads.bricks, result.models[0]?.limitedBy, result.models[0]?.kernels],
      [undefined, undefined, undefined],
    );
  });
});
