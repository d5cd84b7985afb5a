import type { MeasureRequest } from '../agent/benchmark-agent.js';
import { type Measurement, subjectKey } from '../measurement/measurement.js';

export interface Task {
  readonly label: string;
  readonly request: MeasureRequest;
  readonly work: number;
}

function keyOnOccasion(signature: string, { context, occasion }: Pick<Measurement, 'context' | 'occasion'>): string {
  return `${subjectKey(signature, context)} on ${occasion}`;
}

/** Key of a task among those with the same run options, protocol and limits. */
export function taskKey({ benchmark, context, occasion }: MeasureRequest): string {
  return keyOnOccasion(benchmark.signature, { context, occasion });
}

export function resultKey({ signature, context, occasion }: Measurement): string {
  return keyOnOccasion(signature, { context, occasion });
}

export function distinctTasks(tasks: Iterable<Task>): readonly Task[] {
  const byKey = new Map<string, Task>();
  for (const task of tasks) {
    const key = taskKey(task.request);
    if (!byKey.has(key)) byKey.set(key, task);
  }
  return [...byKey.values()];
}
