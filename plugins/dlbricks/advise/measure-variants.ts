import {
  distinctTasks,
  groupedBy,
  identifySystem,
  KnownResults,
  measurementWarnings,
  Measuring,
  type MeasuringContext,
  planMeasuring,
  PlatformError,
  RunProgress,
  type Task,
} from '../../../src/plugin-api.js';
import { computeContext } from '../bricks/needs.js';
import { brickLatency, groupObservations } from '../estimate/brick-latency.js';
import { bricksOfModel, brickTasks, type MeasureSettings, MAX_OCCASIONS } from '../measure/tasks.js';
import { sessionKey, type Variant } from './variants.js';

export const MAX_ROUNDS = MAX_OCCASIONS;

/** Times of a variant's kernels, ms. */
export interface TimedVariant extends Variant {
  readonly rounds: readonly (readonly number[])[];
}

/** Measures the kernels in the footprint of today's model, so that only differences between variants are left. */
export async function measureVariants(
  variants: readonly Variant[],
  rounds: number,
  settings: Omit<MeasureSettings, 'runOptions'>,
  context: MeasuringContext,
) {
  const { agent, store, signal } = context;
  const [base] = variants;
  if (base === undefined) throw new PlatformError('internal', 'no variant to measure');
  const footprint = base.prepared.recipe.footprint_bytes;
  const recipeIn = ({ prepared: { recipe } }: Variant) => ({
    ...recipe,
    ...(footprint !== undefined && { footprint_bytes: footprint }),
  });
  const tasksOf = (variant: Variant, occasion: number): readonly Task[] => {
    const { prepared, runOptions, setting } = variant;
    const system = identifySystem(agent.description, runOptions);
    const model = { ...prepared, recipe: recipeIn(variant) };
    const own = { ...settings, runOptions };
    return bricksOfModel(model, system).flatMap((brick) =>
      brickTasks(`${setting.name}: ${brick.brick.operators.join(' ')}`, brick, occasion, own),
    );
  };
  const progress = new RunProgress();
  // Where kernels are measured the same way, they are in the same composites.
  const bySession = groupedBy(variants, sessionKey);
  const groups = [...bySession.values()].map((together) => {
    const system = identifySystem(agent.description, together[0].runOptions);
    return { together, system, results: new KnownResults() };
  });
  const planned = [];
  for (let occasion = 1; occasion <= rounds; occasion++) {
    for (const group of groups) {
      const tasks = distinctTasks(group.together.flatMap((variant) => tasksOf(variant, occasion)));
      const phase = await planMeasuring(tasks, group.results, {
        system: group.system,
        store,
        remeasure: { kind: 'none' },
      });
      progress.add(phase.missing);
      planned.push({ ...group, missing: phase.missing });
    }
  }
  for (const { system, results, missing } of planned) {
    if (signal.aborted) break;
    await new Measuring(context, system, results, progress).measure(missing, { kind: 'none' });
  }
  const measured = groups.flatMap(({ results }) => [...results.measurements()]);
  const machine = { threads: base.runOptions.threads, cores: agent.description.cores, canRemeasure: false };
  for (const { message } of measurementWarnings(measured, machine)) {
    context.onEvent({ kind: 'note', level: 'warning', message });
  }
  const unmeasured: { variant: Variant; reason: string }[] = [];
  const timed: TimedVariant[] = [];
  for (const { together, system, results } of groups) {
    const measurements = [...results.measurements()];
    const all = groupObservations(measurements);
    const ofRound = Array.from({ length: rounds }, (_, at) =>
      groupObservations(measurements.filter(({ occasion }) => occasion === at + 1)),
    );
    for (const variant of together) {
      const recipe = recipeIn(variant);
      const where = computeContext(recipe, system);
      const problem = recipe.bricks
        .map((brick) => brickLatency(brick, where, all))
        .find(({ kind }) => kind === 'unknown');
      if (problem?.kind === 'unknown') {
        unmeasured.push({ variant, reason: problem.reason });
        continue;
      }
      const ofRounds = ofRound.flatMap((observations): (readonly number[])[] => {
        const times = recipe.bricks.map((brick) => {
          const own = brickLatency(brick, where, brick.context === undefined ? observations : all);
          return own.kind === 'known' ? own.ms : undefined;
        });
        const ofKernels = recipe.sequences.map((brick) => times[brick]);
        return ofKernels.every((ms) => ms !== undefined) ? [ofKernels] : [];
      });
      timed.push({ ...variant, rounds: ofRounds });
    }
  }
  return {
    variants: variants.flatMap((variant) => timed.find(({ setting }) => setting === variant.setting) ?? []),
    unmeasured,
  };
}
