import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prepareOrRefuse } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { compareRounds, pairTasks, type PreparedSide } from '../../../../plugins/dlbricks/compare/compare-rounds.js';
import type { Comparison } from '../../../../plugins/dlbricks/compare/comparison.js';
import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import type { Failure } from '../../../../src/agent/failure.js';
import { measurePaired } from '../../../../src/measuring/measure-paired.js';
import { identifySystem, buildRunOptions } from '../../../../src/measurement/system.js';
import { LIMITS, PROTOCOL } from '../../../store/sample-measurement.js';
import { loadedChain } from '../support/chain-model.js';
import { normalNumbers } from '../support/noise.js';

const CHAINS = [loadedChain('one', 'Relu', 'Neg', 'Abs'), loadedChain('two', 'Neg', 'Exp', 'Neg')];

const signal = new AbortController().signal;

/** Latencies by the order in which benchmarks are first asked for: 1 ms, 2 ms, 3 ms and so on. */
type LatencyOf = (signature: string, place: number) => number | Failure;

function agentWith(latencyOf: LatencyOf): BenchmarkAgent {
  const places = new Map<string, number>();
  return createFakeAgent({
    latencyOf: ({ signature }) => {
      const place = places.get(signature) ?? places.size + 1;
      places.set(signature, place);
      return latencyOf(signature, place);
    },
    optimizedOf: (benchmark) => ({ benchmark, values: new Map(), costMs: 1 }),
  });
}

async function sideOf(agent: BenchmarkAgent, threads = 1): Promise<PreparedSide> {
  const runOptions = buildRunOptions(threads);
  const settings = { cut: 'kernel' as const, runOptions };
  const models = await Promise.all(CHAINS.map((loaded) => prepareOrRefuse(loaded, settings, agent, signal)));
  const system = identifySystem(agent.description, runOptions);
  return { agent, system, models, settings: { runOptions, protocol: PROTOCOL, limits: LIMITS } };
}

async function compared(
  sides: readonly [PreparedSide, PreparedSide],
  { rounds = 10, isWhole = false } = {},
): Promise<Comparison> {
  const taken = [];
  const agents = [sides[0].agent, sides[1].agent] as const;
  const options = { rounds, signal, onEvent: () => undefined };
  for await (const round of measurePaired(agents, pairTasks(sides, { isWhole }), options)) taken.push(round);
  return compareRounds(sides, taken, { batch: 1, isWhole });
}

/** Brick that has its third place in each round: the call that both models share is the first one. */
const THIRD = 3;

describe('comparing two sides in rounds', () => {
  test('finds a kernel that is 3 % slower, and calls no other one different', async () => {
    const normal = normalNumbers(3);
    const noisy = (ms: number): number => ms * Math.exp(0.005 * normal());
    const before = await sideOf(agentWith((_, place) => noisy(place)));
    const after = await sideOf(agentWith((_, place) => noisy(place === THIRD ? place * 1.03 : place)));
    const { bricks, models, unmatched, aspects } = await compared([before, after]);
    const slower = bricks.filter(({ verdict }) => verdict !== 'no difference seen');
    assert.deepEqual(
      slower.map(({ verdict, operators, models: of }) => [verdict, operators, of.map(({ name }) => name)]),
      [['slower', ['Neg'], ['one', 'two']]],
    );
    assert.ok(Math.abs((slower[0]?.ratio ?? 0) - 1.03) < 0.01);
    // Twice in the second model: 2 of 3 sequences.
    assert.deepEqual(
      models.map(({ ratio_low: low }) => (low ?? 0) > 1),
      [true, true],
    );
    assert.deepEqual([unmatched, aspects], [{ before: 0, after: 0 }, []]);
  });

  test('states times that fit their ratio, though one round was disturbed', async () => {
    let calls = 0;
    const before = await sideOf(agentWith((_, place) => place));
    const after = await sideOf(agentWith((_, place) => (calls++ < 2 ? 20 : 1.1) * place));
    const { bricks, models } = await compared([before, after]);
    for (const { before_ms: beforeMs, after_ms: afterMs, ratio } of [...bricks, ...models]) {
      assert.ok(Math.abs((afterMs ?? 0) / (beforeMs ?? 1) / (ratio ?? 0) - 1) < 1e-9);
      assert.ok(Math.abs((ratio ?? 0) - 1.1) < 0.05);
    }
    const [brick] = bricks;
    const { before_ms: beforeMs = 0, after_ms: afterMs = 0, models: of = [], difference_ms: ms = 0 } = brick ?? {};
    assert.ok(Math.abs(ms - (of[0]?.sequences ?? 0) * (afterMs - beforeMs)) < 1e-9 || of.length > 1);
  });

  test('of the same side twice, at most one comparison in twenty calls something different', async () => {
    const normal = normalNumbers(7);
    let drift = 1;
    const latencyOf: LatencyOf = (_, place) => place * drift * Math.exp(0.02 * normal());
    const side = await sideOf(agentWith(latencyOf));
    let alarms = 0;
    const comparisons = 200;
    for (let index = 0; index < comparisons; index++) {
      drift = Math.exp(0.3 * normal());
      const { models, bricks, overall } = await compared([side, side], { rounds: 6, isWhole: true });
      const intervals = models.flatMap((model) => [
        { low: model.ratio_low, high: model.ratio_high },
        { low: model.measured_ratio_low, high: model.measured_ratio_high },
      ]);
      const isDifferent = [overall, ...intervals].some((one) => one && ((one.low ?? 0) > 1 || (one.high ?? 2) < 1));
      if (isDifferent || bricks.some(({ verdict }) => verdict !== 'no difference seen')) alarms++;
    }
    // 10 are expected at most; with more than 21, the true rate would be above 5 % with 99.9 % probability.
    assert.ok(alarms <= 21, `${alarms} of ${comparisons}`);
  });

  test('gives one round no verdict, and says why', async () => {
    const side = await sideOf(agentWith((_, place) => place));
    const { models } = await compared([side, side], { rounds: 1 });
    assert.deepEqual(
      models.map(({ verdict, no_verdict: reason }) => [verdict, reason]),
      models.map(() => [null, 'one round has no interval; let two or more rounds complete']),
    );
    const { models: ofTwo } = await compared([side, side], { rounds: 2 });
    assert.equal(ofTwo[0]?.no_verdict, null);
  });

  test('measures a brick once in a round, and whole models where they are asked for', async () => {
    const calls: string[] = [];
    const noting = agentWith((signature) => {
      calls.push(signature);
      return 1;
    });
    const side = await sideOf(noting);
    const { models } = await compared([side, side], { rounds: 2, isWhole: true });
    assert.deepEqual(
      models.map((model) => model.measured_ratio),
      [1, 1],
    );
    const distinct = new Set(calls).size;
    assert.equal(calls.length, distinct * 2 * 2);
  });

  test('says why a model has no ratio, on which side, and what differs between the sides', async () => {
    const failure = { reason: 'unsupported', message: 'no such operator' } as const;
    const before = await sideOf(agentWith(() => 1));
    const after = await sideOf(
      agentWith((_, place) => (place === THIRD ? failure : 1)),
      2,
    );
    const { models, aspects } = await compared([before, after], { rounds: 2 });
    assert.match(models[0]?.reason ?? '', /^after: .*no such operator/);
    assert.deepEqual(aspects, [{ aspect: 'threads', before: '1', after: '2' }]);
  });
});
