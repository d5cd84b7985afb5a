import {
  counted,
  DEFAULT_REMEASURE,
  distinctTasks,
  footprintClass,
  identifySystem,
  isAbleTo,
  KnownResults,
  Measuring,
  type MeasuringContext,
  planMeasuring,
  PlatformError,
  type Remeasure,
  RunProgress,
  type System,
  type Task,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { outputCopyNeed } from '../bricks/needs.js';
import { roughMsOfBrick } from '../cut/rough-time.js';
import { emptyCall } from '../bricks/empty-call.js';
import { outputCopy } from '../bricks/output-copy.js';
import { recipeOfBrick } from '../bricks/unique-bricks.js';
import type { Suite, SuiteBrick } from '../exchange/suite.js';
import {
  type BrickOfModel,
  brickTasks,
  callTask,
  FIRST_OCCASION,
  type MeasureSettings,
  SECOND_OCCASION,
} from './tasks.js';

function brickOfModel(brick: SuiteBrick, { cacheBytes }: System): BrickOfModel {
  const { footprintBytes } = brick;
  return {
    brick,
    recipe: recipeOfBrick(brick),
    context: footprintBytes === undefined ? undefined : { footprintBytes: footprintClass(footprintBytes, cacheBytes) },
    modelBytes: footprintBytes,
    roughMs: roughMsOfBrick(brick),
  };
}

/** Bricks in context once more in another process: the difference sets the intervals of the owner's estimates. */
function suiteTasks(suite: Suite, system: System, settings: MeasureSettings): readonly Task[] {
  const bricks = suite.bricks.map((brick) => brickOfModel(brick, system));
  const inContext = bricks.filter(({ brick, context }) => brick.copies !== undefined || context !== undefined);
  const on = (occasion: number, some: readonly BrickOfModel[]): readonly Task[] => {
    return some.flatMap((one) => brickTasks(operatorsLabel(one.brick.operators), one, occasion, settings));
  };
  return distinctTasks([
    ...suite.calls.map((call) => callTask('empty call', emptyCall(call, { joined: false }), settings)),
    ...suite.outputCopies.flatMap((types) => {
      const handed = outputCopy(types);
      const benchmarks = handed === undefined ? [] : [handed.returned, handed.kept];
      return benchmarks.map((benchmark) => callTask('handing over outputs', benchmark, settings, outputCopyNeed));
    }),
    ...on(FIRST_OCCASION, bricks),
    ...on(SECOND_OCCASION, inContext),
  ]);
}

/** @throws PlatformError `unsupported` where the agent cannot measure as the suite asks; as the agent and the store */
export async function measureSuite(
  suite: Suite,
  settings: MeasureSettings,
  context: MeasuringContext,
  remeasure: Remeasure = DEFAULT_REMEASURE,
) {
  const { agent, store, onEvent } = context;
  const system = identifySystem(agent.description, settings.runOptions);
  const needsProfile = suite.bricks.some(({ footprintBytes }) => footprintBytes !== undefined);
  if (needsProfile && !isAbleTo(agent.description, 'measure_bricks')) {
    throw new PlatformError(
      'unsupported',
      `${system.framework} ${system.frameworkVersion} keeps no profile of its kernels, which this suite needs; measure it with onnxruntime`,
    );
  }
  const tasks = suiteTasks(suite, system, settings);
  const results = new KnownResults();
  const { missing, disturbed } = await planMeasuring(tasks, results, { system, store, remeasure });
  const known = tasks.length - missing.length;
  const unique = new Set(suite.bricks.map(({ signature }) => signature)).size;
  const summary = `${counted(unique, 'unique brick')}; ${counted(missing.length, 'measurement')} to take, ${known} known already`;
  onEvent({ kind: 'planned', summary, known, toMeasure: missing.length });
  const progress = new RunProgress();
  progress.add(missing);
  const measuring = new Measuring(context, system, results, progress);
  const measured = await measuring.measure(missing, remeasure);
  const interrupted = measured + measuring.arrived < missing.length;
  const replaced = await measuring.replaceWhileQuiet(disturbed);
  return {
    system,
    measurements: tasks.flatMap(({ request }) => results.get(request) ?? []),
    measured: measured + replaced,
    interrupted,
  };
}
