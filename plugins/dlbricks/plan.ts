import {
  type Benchmark,
  type Measurement,
  type Protocol,
  protocolKey,
  type ResultStore,
  type System,
} from '../../src/plugin-api.js';
import type { DecomposedModel } from './unique-bricks.js';

/** A model taken apart, and whole. */
export interface PreparedModel extends DecomposedModel {
  readonly whole: Benchmark;
}

/** One thing to measure, and what to call it on a progress bar. */
export interface Task {
  readonly label: string;
  readonly benchmark: Benchmark;
  readonly protocol: Protocol;
}

/** The protocol of the second look at something, which shows how repeatable the machine is. */
export function repetitionOf(protocol: Protocol): Protocol {
  return { ...protocol, occasion: protocol.occasion + 1 };
}

/**
 * Everything that an evaluation needs measured, each once. Each model's whole run stands right before its own bricks, so
 * that both see the machine in the same state; all repetitions stand at the end.
 */
export function planTasks(
  models: readonly PreparedModel[],
  protocol: Protocol,
  measureEndToEnd: boolean,
): readonly Task[] {
  const tasks = new Map<string, Task>();
  const add = (label: string, benchmark: Benchmark, taskProtocol: Protocol): void => {
    const key = `${benchmark.signature} ${taskProtocol.occasion}`;
    if (!tasks.has(key)) tasks.set(key, { label, benchmark, protocol: taskProtocol });
  };
  for (const { recipe, bricks, whole } of models) {
    if (measureEndToEnd) add(`${recipe.name} (whole)`, whole, protocol);
    for (const brick of bricks) add(`${recipe.name}: ${brick.operators.join('+')}`, brick, protocol);
  }
  if (measureEndToEnd) {
    for (const { recipe, whole } of models) add(`${recipe.name} (whole, again)`, whole, repetitionOf(protocol));
  }
  return [...tasks.values()];
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

/** Measurements of one system by benchmark and occasion. */
export class Results {
  private readonly measurements = new Map<string, Map<string, Measurement>>();

  /** By signature, for one protocol. */
  of(protocol: Protocol): Map<string, Measurement> {
    const key = protocolKey(protocol);
    const found = this.measurements.get(key) ?? new Map<string, Measurement>();
    this.measurements.set(key, found);
    return found;
  }

  has({ benchmark, protocol }: Task): boolean {
    return this.of(protocol).has(benchmark.signature);
  }

  put(measurement: Measurement): void {
    this.of(measurement.protocol).set(measurement.signature, measurement);
  }
}

/** What the store has of the tasks already, as far as it saves measuring. */
export async function knownResults(tasks: readonly Task[], system: System, store: ResultStore): Promise<Results> {
  const results = new Results();
  const signaturesByProtocol = new Map<string, { protocol: Protocol; signatures: string[] }>();
  for (const { benchmark, protocol } of tasks) {
    const key = protocolKey(protocol);
    const group = signaturesByProtocol.get(key) ?? { protocol, signatures: [] };
    group.signatures.push(benchmark.signature);
    signaturesByProtocol.set(key, group);
  }
  for (const [key, { protocol, signatures }] of signaturesByProtocol) {
    const found = await store.findMeasurements(signatures, system.fingerprint, key);
    for (const measurement of found.values()) if (isConclusive(measurement, protocol)) results.put(measurement);
  }
  return results;
}
