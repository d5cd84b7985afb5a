import type { Measurement, Protocol, RunOptions, System } from '../../src/plugin-api.js';
import { type EvaluationContext, measureAll } from './measure.js';
import { knownResults } from './plan.js';
import type { Suite } from './suite.js';

export interface SuiteResult {
  readonly system: System;
  /** In the order of the suite; failed ones too. */
  readonly measurements: readonly Measurement[];
  /** How many were taken now; the others were in the store. */
  readonly measured: number;
  readonly interrupted: boolean;
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
  context: EvaluationContext,
): Promise<SuiteResult> {
  const system = await context.agent.system(runOptions);
  const tasks = suite.bricks.map((brick) => ({ label: brick.operators.join('+'), benchmark: brick, protocol }));
  const results = await knownResults(tasks, system, context.store);
  const toMeasure = tasks.filter((task) => !results.has(task));
  context.onEvent({
    kind: 'planned',
    layers: suite.bricks.reduce((sum, { operators }) => sum + operators.length, 0),
    unique: tasks.length,
    known: tasks.length - toMeasure.length,
    toMeasure: toMeasure.length,
  });
  const measured = await measureAll(toMeasure, results, runOptions, context);
  const found = results.of(protocol);
  return {
    system,
    measurements: suite.bricks.flatMap(({ signature }) => found.get(signature) ?? []),
    measured,
    interrupted: measured < toMeasure.length,
  };
}
