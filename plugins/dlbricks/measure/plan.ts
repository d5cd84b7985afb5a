import {
  type Benchmark,
  type Measurement,
  type Protocol,
  protocolKey,
  type ResultStore,
  type System,
  withFingerprint,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { MeasurableBrick } from '../bricks/in-context.js';
import { type Observations, observationsOf } from '../estimate/brick-latency.js';
import type { ModelRecipe } from '../bricks/recipe.js';
import type { PreparedModel } from '../bricks/prepare-model.js';

/** A measurement that is needed. */
export interface Wanted {
  readonly benchmark: Pick<Benchmark, 'signature'>;
  readonly protocol: Protocol;
  /** Kernels are optimized already, and run as they are; undefined is the evaluation's own level. */
  readonly optimizationLevel?: 'disabled';
}

/** One thing to measure, and what to call it on a progress bar. */
export interface Task extends Wanted {
  readonly label: string;
  readonly benchmark: Benchmark;
}

/** The protocol of the second look at something, which shows how repeatable the machine is. */
export function repetitionOf(protocol: Protocol): Protocol {
  return { ...protocol, occasion: protocol.occasion + 1 };
}

/** A brick's next occasion: what it is measured with, without the calls that are subtracted, which vary too little to matter. */
export function repeatTask(label: string, brick: MeasurableBrick, protocol: Protocol): Task {
  const [task = { label, benchmark: brick, protocol }] = brickTasks(label, brick, protocol).slice(-1);
  return task;
}

/** Fewest runs of a graph of copies: of three, the median is taken. */
const LEAST_RUNS_OF_COPIES = 3;

/**
 * Executions of a brick in context for each run that the protocol asks of a whole model. A model is the sum of several
 * bricks, whose errors average out: four equal ones with a quarter of the runs each are known as well as the whole.
 */
const EXECUTIONS_PER_RUN = 1 / 4;

/** The protocol of a graph of copies: fewer runs, since each is several executions; one warm-up touches every page. */
function protocolOfCopies(protocol: Protocol, copies: number): Protocol {
  const wanted = Math.ceil((protocol.runs * EXECUTIONS_PER_RUN) / copies);
  const runs = Math.min(protocol.runs, Math.max(LEAST_RUNS_OF_COPIES, wanted));
  return {
    ...protocol,
    runs,
    minRuns: Math.min(protocol.minRuns, runs),
    warmupRuns: Math.min(protocol.warmupRuns, 1),
  };
}

/** What has to be measured for a brick: itself, or copies of it in one graph and the same call without them. */
export function brickTasks(label: string, brick: MeasurableBrick, protocol: Protocol): readonly Task[] {
  const { context } = brick;
  if (context === undefined) return [{ label, benchmark: brick, protocol }];
  const { copies, benchmark, baseline } = context;
  return [
    emptyCallTask(baseline, protocol),
    { label, benchmark, protocol: protocolOfCopies(protocol, copies), optimizationLevel: 'disabled' },
  ];
}

/** A call without any work in it. */
export function emptyCallTask(call: Benchmark, protocol: Protocol): Task {
  return { label: 'empty call', benchmark: call, protocol, optimizationLevel: 'disabled' };
}

/** A brick is measured on at most this many occasions. */
export const MOST_OCCASIONS = 5;

/** What a recipe may have had measured, on every occasion. */
export function wantedOnAnyOccasion(recipe: ModelRecipe, protocol: Protocol): readonly Wanted[] {
  return Array.from({ length: MOST_OCCASIONS }, (_, index) => {
    return wantedOf(recipe, { ...protocol, occasion: protocol.occasion + index });
  }).flat();
}

/** What a recipe needs measured. */
export function wantedOf({ bricks, call }: ModelRecipe, protocol: Protocol): readonly Wanted[] {
  const alone = (signature: string): Wanted => ({ benchmark: { signature }, protocol });
  const emptyCall = (signature: string): Wanted => ({ ...alone(signature), optimizationLevel: 'disabled' });
  return [
    ...(call === undefined ? [] : [emptyCall(call)]),
    ...bricks.flatMap(({ signature, context }) => {
      if (context === undefined) return [alone(signature)];
      const { copies, benchmark, baseline } = context;
      return [emptyCall(baseline), { ...emptyCall(benchmark), protocol: protocolOfCopies(protocol, copies) }];
    }),
  ];
}

/** The system that a task is measured on, where `system` is the evaluation's. */
export function systemOfTask(system: System, { optimizationLevel }: Wanted): System {
  if (optimizationLevel === undefined) return system;
  return withFingerprint({ ...system, runOptions: { ...system.runOptions, optimizationLevel } });
}

/**
 * Everything that an evaluation needs measured, each once. Each model's whole run stands right before its own bricks, so
 * that both see the machine in the same state.
 */
export function planTasks(
  models: readonly PreparedModel[],
  protocol: Protocol,
  measureEndToEnd: boolean,
): readonly Task[] {
  return distinct(
    models.flatMap(({ recipe, bricks, whole, call }) => [
      ...(measureEndToEnd ? [{ label: `${recipe.name} (whole)`, benchmark: whole, protocol }] : []),
      ...(call === undefined ? [] : [emptyCallTask(call, protocol)]),
      ...bricks.flatMap((brick) => brickTasks(`${recipe.name}: ${operatorsLabel(brick.operators)}`, brick, protocol)),
    ]),
  );
}

/** Each whole model once more, which shows how repeatable the machine is. */
export function planRepetitions(models: readonly PreparedModel[], protocol: Protocol): readonly Task[] {
  return distinct(
    models.map(({ recipe, whole }) => {
      return { label: `${recipe.name} (whole, again)`, benchmark: whole, protocol: repetitionOf(protocol) };
    }),
  );
}

function distinct(tasks: readonly Task[]): readonly Task[] {
  const byKey = new Map<string, Task>();
  for (const task of tasks) {
    const key = keyOf(task.benchmark.signature, task.protocol);
    if (!byKey.has(key)) byKey.set(key, task);
  }
  return [...byKey.values()];
}

/** Whether a measurement saves measuring again. Failures do, unless the limit that caused them has been raised. */
export function isConclusive({ outcome, protocol }: Measurement, asked: Protocol): boolean {
  if (outcome.kind === 'samples') return true;
  switch (outcome.reason) {
    case 'timeout':
      return asked.timeLimitMs <= protocol.timeLimitMs;
    case 'out_of_memory':
      return asked.memoryLimitBytes <= protocol.memoryLimitBytes;
    case 'unsupported':
    case 'run_failed':
      return true;
    case 'crashed':
      return false;
  }
}

/** Measurements of one machine by benchmark and occasion. */
export class Results {
  private readonly measurements = new Map<string, Measurement>();

  get({ benchmark, protocol }: Wanted): Measurement | undefined {
    return this.measurements.get(keyOf(benchmark.signature, protocol));
  }

  put(measurement: Measurement): void {
    this.measurements.set(keyOf(measurement.signature, measurement.protocol), measurement);
  }

  /** Takes over everything that others hold. */
  add(others: Results): void {
    for (const measurement of others.measurements.values()) this.put(measurement);
  }

  observations(): Observations {
    return observationsOf(this.measurements.values());
  }
}

function keyOf(signature: string, { occasion }: Protocol): string {
  return `${signature} ${occasion}`;
}

/** What the store has of the tasks already, as far as it saves measuring. */
export async function knownResults(tasks: readonly Wanted[], system: System, store: ResultStore): Promise<Results> {
  const results = new Results();
  const groups = new Map<string, { fingerprint: string; protocol: Protocol; signatures: string[] }>();
  for (const task of tasks) {
    const { benchmark, protocol } = task;
    const { fingerprint } = systemOfTask(system, task);
    const key = `${fingerprint} ${protocolKey(protocol)}`;
    const group = groups.get(key) ?? { fingerprint, protocol, signatures: [] };
    group.signatures.push(benchmark.signature);
    groups.set(key, group);
  }
  for (const { fingerprint, protocol, signatures } of groups.values()) {
    const found = await store.findMeasurements(signatures, fingerprint, protocolKey(protocol));
    for (const measurement of found.values()) if (isConclusive(measurement, protocol)) results.put(measurement);
  }
  return results;
}
