import type { BenchmarkAgent } from '../../agent/benchmark-agent.js';
import { spreadAgent } from '../../agent/spread/spread-agent.js';
import type { Evaluation, EvaluationContext, EvaluationRequest } from '../evaluation.js';
import { note, type PluginEvent } from '../event.js';
import type { MeasuringSystem } from './measuring-systems.js';
import { runPlugin } from './run-plugin.js';

export type EvaluationPlace = Pick<EvaluationContext, 'store' | 'signal'>;

function agentOf({ machines }: MeasuringSystem, notes: PluginEvent[]): BenchmarkAgent {
  const [only, ...others] = machines;
  if (others.length === 0) return only.agent;
  return spreadAgent(machines, { tell: (level, message) => notes.push(note(level, message)) });
}

/** @param notes for users; others may add to it @throws PlatformError as {@link runPlugin} */
export async function* evaluateOn(
  evaluation: Evaluation,
  request: EvaluationRequest,
  system: MeasuringSystem,
  { store, signal }: EvaluationPlace,
  notes: PluginEvent[] = [],
): AsyncGenerator<PluginEvent> {
  const agent = agentOf(system, notes);
  try {
    for await (const event of runPlugin(evaluation, request, { agent, store, signal })) {
      yield* notes.splice(0);
      yield event;
    }
  } catch (error) {
    yield* notes.splice(0);
    throw error;
  }
}
