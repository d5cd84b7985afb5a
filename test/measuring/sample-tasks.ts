import type { Task } from '../../src/measuring/task.js';
import { LIMITS, PROTOCOL, signatureOf, SYSTEM } from '../store/sample-measurement.js';

/** One task for each label, each with its own benchmark. */
export function sampleTasks(...labels: readonly string[]): readonly Task[] {
  return labels.map((label, index) => {
    const benchmark = { signature: signatureOf(index), model: new Uint8Array(), inputs: [] };
    const request = { benchmark, runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS, occasion: 1 };
    return { label, request, work: 1 };
  });
}
