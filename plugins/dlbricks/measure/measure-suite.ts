import type { Measurement, Protocol, RunOptions, System } from '../../../src/plugin-api.js';
import { type MeasuringContext, measureAll } from './measure-all.js';
import { operatorsLabel } from '../bricks/brick.js';
import { emptyCall } from '../bricks/in-context.js';
import { brickTasks, emptyCallTask, knownResults, repeatTask, repetitionOf, type Task } from './plan.js';
import type { Suite } from '../exchange/suite.js';

export interface SuiteResult {
  readonly system: System;
  /** In the order of the suite; failed ones too. */
  readonly measurements: readonly Measurement[];
  /** How many were taken now; the others were in the store. */
  readonly measured: number;
  readonly interrupted: boolean;
}

/**
 * Each benchmark once, for bricks of different models share empty calls, and then each brick in context once more in another
 * process: how far the two are apart is what the owner's intervals are made of.
 */
function suiteTasks({ bricks, calls = [] }: Suite, protocol: Protocol): readonly Task[] {
  const tasks = [
    ...calls.map(({ inputs, outputs }) => emptyCallTask(emptyCall(inputs, outputs, { joined: false }), protocol)),
    ...bricks.flatMap((brick) => brickTasks(operatorsLabel(brick.operators), brick, protocol)),
  ];
  const again = bricks
    .filter(({ context }) => context !== undefined)
    .map((brick) => repeatTask(`${operatorsLabel(brick.operators)} (once more)`, brick, repetitionOf(protocol)));
  return [...new Map(tasks.map((task) => [task.benchmark.signature, task])).values(), ...again];
}

/**
 * Measures a suite's bricks as far as the store does not know them. Whoever does it needs none of the models.
 *
 * @throws PlatformError where the agent or the store fails
 */
export async function measureSuite(
  suite: Suite,
  runOptions: RunOptions,
  protocol: Protocol,
  context: MeasuringContext,
): Promise<SuiteResult> {
  const system = await context.agent.system(runOptions);
  const tasks = suiteTasks(suite, protocol);
  const results = await knownResults(tasks, system, context.store);
  const toMeasure = tasks.filter((task) => results.get(task) === undefined);
  context.onEvent({
    kind: 'planned',
    layers: suite.bricks.reduce((sum, { operators }) => sum + operators.length, 0),
    unique: tasks.length,
    known: tasks.length - toMeasure.length,
    toMeasure: toMeasure.length,
  });
  const measured = await measureAll(toMeasure, results, runOptions, context);
  return {
    system,
    measurements: tasks.flatMap((task) => results.get(task) ?? []),
    measured,
    interrupted: measured < toMeasure.length,
  };
}
