import { spreadAgent } from '../../agent/spread/spread-agent.js';
import type { Evaluation, EvaluationContext, EvaluationRequest } from '../evaluation.js';
import { note, type PluginEvent } from '../event.js';
import type { MeasuringSystem } from './measuring-systems.js';
import { runPlugin } from './run-plugin.js';

export type EvaluationPlace = Pick<EvaluationContext, 'store' | 'signal'>;

/** @param notes for users; others add to it meanwhile @throws as `events` */
export async function* withNotes(
  events: AsyncIterable<PluginEvent>,
  notes: PluginEvent[],
): AsyncGenerator<PluginEvent> {
  try {
    for await (const event of events) {
      yield* notes.splice(0);
      yield event;
    }
  } catch (error) {
    yield* notes.splice(0);
    throw error;
  }
}

/** @throws PlatformError as {@link runPlugin} */
export async function* evaluateOn(
  evaluation: Evaluation,
  request: EvaluationRequest,
  system: MeasuringSystem,
  { store, signal }: EvaluationPlace,
): AsyncGenerator<PluginEvent> {
  const [only, ...others] = system.machines;
  const notes: PluginEvent[] = [];
  const tell = (level: 'info' | 'warning', message: string): void => void notes.push(note(level, message));
  const agent = others.length === 0 ? only.agent : spreadAgent(system.machines, { tell });
  yield* withNotes(runPlugin(evaluation, request, { agent, store, signal }), notes);
}
