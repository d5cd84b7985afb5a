import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  brickTasks,
  bricksOfModel,
  FIRST_OCCASION,
  firstTasks,
  type MeasureSettings,
  SECOND_OCCASION,
  wholeModelTasks,
} from '../../../../plugins/dlbricks/measure/tasks.js';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import type { BenchmarkInput } from '../../../../src/measurement/benchmark.js';
import { protocolOfComposite } from '../../../../src/plugin-api.js';
import { type Task, taskKey } from '../../../../src/measuring/task.js';
import { outputCopy } from '../../../../plugins/dlbricks/bricks/output-copy.js';
import { LIMITS, PROTOCOL, signatureOf, SYSTEM } from '../../../store/sample-measurement.js';
import { preparedChain } from '../support/chain-model.js';
import { copiesSignature, FOOTPRINT_BYTES, preparedOf, recipeOf, recipeTogether } from '../support/measured-bricks.js';

const SETTINGS: MeasureSettings = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

const one = preparedChain('one', 'Relu', 'Neg', 'Relu');
const two = preparedChain('two', 'Abs', 'Neg');

function labels(tasks: readonly Task[]): readonly string[] {
  return tasks.map(({ label }) => label);
}

describe('the tasks of an evaluation', () => {
  test('have each brick of each model once', () => {
    assert.deepEqual(labels(firstTasks([one, two], SYSTEM, SETTINGS)), ['one: Relu', 'one: Neg', 'two: Abs']);
  });

  test('have each whole model once, and a second time for the repetitions', () => {
    const models = [one, two, { ...one }];
    assert.deepEqual(labels(wholeModelTasks(models, FIRST_OCCASION, SETTINGS)), ['one (whole)', 'two (whole)']);
    assert.deepEqual(labels(wholeModelTasks(models, SECOND_OCCASION, SETTINGS)), [
      'one (whole, again)',
      'two (whole, again)',
    ]);
  });

  test('have a work in proportion to their time: more for slower benchmarks, and for more runs', () => {
    const works = (tasks: readonly Task[]): readonly number[] => tasks.map(({ work }) => work);
    // One run takes a second, two seconds and four seconds.
    const slow = preparedOf(recipeTogether([1, 1, 1]), [1000, 2000, 4000]);
    const [, first = 0, second = 0, third = 0] = works(firstTasks([slow], SYSTEM, SETTINGS));
    assert.ok(first < second && second < third);
    const [whole = 0] = works(wholeModelTasks([slow], FIRST_OCCASION, SETTINGS));
    assert.ok(whole > first + second + third);
  });

  test('have a work of as many runs as the protocol has, or as its time budget allows', () => {
    const workOf = (roughMs: number, runs: number): number => {
      const settings = { ...SETTINGS, protocol: { ...PROTOCOL, runs } };
      const model = preparedOf(recipeTogether([1]), [roughMs]);
      return wholeModelTasks([model], FIRST_OCCASION, settings)[0]?.work ?? NaN;
    };
    // Two seconds are enough for a hundred runs of a millisecond, but not for fifty of a second.
    assert.equal(workOf(1, 100) - workOf(1, 50), 50);
    assert.equal(workOf(1000, 100), workOf(1000, 50));
    // A budget for six and a half runs gives seven; one for two gives the least number of runs.
    const runsOf = (roughMs: number): number => (workOf(roughMs, 50) - workOf(0, 50)) / roughMs;
    const { warmupRuns, runs, minRuns } = PROTOCOL;
    assert.deepEqual([1, 2000 / 6.5, 1000].map(runsOf).map(Math.round), [warmupRuns + runs, warmupRuns + 7, warmupRuns + minRuns]); // prettier-ignore
    assert.ok(workOf(0, 50) > 0);
  });

  test('have a work for a process of their own, or a small part of one that they share, and fewer runs in it', () => {
    const workOf = (recipe: ModelRecipe, roughMs: number): number => {
      return firstTasks([preparedOf(recipe, [roughMs])], SYSTEM, SETTINGS).at(-1)?.work ?? NaN;
    };
    const alone = recipeOf([1]);
    const together = recipeTogether([1]);
    assert.ok(workOf(together, 0) > 0 && workOf(alone, 0) > 10 * workOf(together, 0));
    const runsOf = (recipe: ModelRecipe): number => Math.round(workOf(recipe, 1) - workOf(recipe, 0));
    const { warmupRuns, runs } = protocolOfComposite(PROTOCOL);
    assert.deepEqual([alone, together].map(runsOf), [PROTOCOL.warmupRuns + PROTOCOL.runs, warmupRuns + runs]);
  });

  test('have a work for writing their weights, which other inputs do not need', () => {
    const workOf = (role: BenchmarkInput['role']): number => {
      const type = { elementType: 'float32', dims: [1e6] } as const;
      const input: BenchmarkInput = {
        name: 'x',
        role,
        ...type,
        fill: { low: 0, high: 1, seed: 1 },
      };
      const [whole = assert.fail()] = wholeModelTasks(
        [{ ...one, whole: { ...one.whole, inputs: [input] } }],
        FIRST_OCCASION,
        SETTINGS,
      );
      return whole.work;
    };
    // Half a gigabyte is written in a second.
    assert.equal(Math.round(workOf('weight') - workOf('activation')), 8);
  });

  test('say what is measured how, and how long about', () => {
    const model = preparedOf(recipeTogether([1]), [7]);
    const [call = assert.fail(), brick = assert.fail()] = firstTasks([model], SYSTEM, SETTINGS);
    const runOptions = { ...SYSTEM.runOptions, optimizationLevel: 'disabled' };
    const alike = { protocol: PROTOCOL, occasion: 1, limits: LIMITS };
    assert.deepEqual(brick.request, {
      ...alike,
      benchmark: model.bricks[0],
      runOptions,
      context: { footprintBytes: FOOTPRINT_BYTES },
      modelBytes: FOOTPRINT_BYTES,
      roughMs: 7,
    });
    assert.deepEqual(call.request, {
      ...alike,
      benchmark: model.call,
      runOptions: call.request.runOptions,
      protocol: call.request.protocol,
      context: undefined,
      modelBytes: undefined,
      roughMs: 0,
    });
    const [whole = assert.fail()] = wholeModelTasks([one], FIRST_OCCASION, SETTINGS);
    assert.deepEqual(whole.request, { benchmark: one.whole, name: 'one', occasion: 1, ...SETTINGS });
  });

  test('of a repetition differ from the first ones only by their occasion', () => {
    const [first] = wholeModelTasks([two], FIRST_OCCASION, SETTINGS);
    const [again] = wholeModelTasks([two], SECOND_OCCASION, SETTINGS);
    assert.ok(first !== undefined && again !== undefined);
    assert.deepEqual(again.request, { ...first.request, occasion: first.request.occasion + 1 });
    assert.notEqual(taskKey(again.request), taskKey(first.request));
  });

  test('include both graphs of a model’s outputs, whose difference is the cost of handing them over', () => {
    const outputs = outputCopy([{ elementType: 'float32', dims: [2, 128, 128] }]) ?? assert.fail();
    const tasks = firstTasks([{ ...preparedOf(recipeTogether([1])), outputCopy: outputs }], SYSTEM, SETTINGS);
    assert.deepEqual(labels(tasks), [
      'empty call',
      'model: handing over outputs',
      'model: handing over outputs',
      'model: Op0',
    ]);
    const signatures = tasks.map(({ request }) => request.benchmark.signature);
    assert.deepEqual(signatures.slice(1, 3), [outputs.returned.signature, outputs.kept.signature]);
  });

  test('include the empty call that is part of each run of a model, once and before its bricks', () => {
    const model = preparedOf(recipeTogether([2, 1]));
    assert.deepEqual(labels(firstTasks([model, { ...model }], SYSTEM, SETTINGS)), [
      'empty call',
      'model: Op0',
      'model: Op1',
    ]);
  });
});

describe('a brick', () => {
  const requestsOf = (model: ReturnType<typeof preparedOf>, occasion: number): readonly Task['request'][] =>
    bricksOfModel(model, SYSTEM).flatMap((brick) =>
      brickTasks('a brick', brick, occasion, SETTINGS).map(({ request }) => request),
    );

  test('that is measured together with others has the class of its model’s footprint as its context', () => {
    const [request] = requestsOf(preparedOf(recipeTogether([1])), FIRST_OCCASION);
    assert.deepEqual(
      [request?.benchmark.signature, request?.context, request?.protocol],
      [signatureOf(0), { footprintBytes: FOOTPRINT_BYTES }, PROTOCOL],
    );
    assert.equal(request?.runOptions.optimizationLevel, 'disabled');
  });

  test('is another task with another footprint', () => {
    const [few] = requestsOf(preparedOf(recipeTogether([1])), FIRST_OCCASION);
    const [many] = requestsOf(
      preparedOf(recipeTogether([1], { footprintBytes: 64 * FOOTPRINT_BYTES })),
      FIRST_OCCASION,
    );
    assert.ok(few !== undefined && many !== undefined);
    assert.notEqual(taskKey(few), taskKey(many));
  });

  test('as copies has its baseline measured as well, on the first occasion only', () => {
    const model = preparedOf(recipeOf([1]));
    assert.deepEqual(
      requestsOf(model, FIRST_OCCASION).map(({ benchmark }) => benchmark.signature),
      [model.call?.signature, copiesSignature(0)],
    );
    assert.deepEqual(
      requestsOf(model, SECOND_OCCASION).map(({ benchmark }) => benchmark.signature),
      [copiesSignature(0)],
    );
  });
});
