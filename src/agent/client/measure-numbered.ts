import type { BenchmarkAgent, MeasuredRequest, MeasureOptions } from '../benchmark-agent.js';
import type { Numbered } from './requests-together.js';

/** Has an agent measure some requests of a list. Results and progress have the indices of that list. */
export async function* measureNumbered(
  agent: BenchmarkAgent,
  numbered: readonly Numbered[],
  { signal, onProgress }: MeasureOptions,
): AsyncGenerator<MeasuredRequest> {
  const requests = numbered.map(({ request }) => request);
  const options: MeasureOptions = {
    signal,
    onProgress: onProgress && ((state) => onProgress({ ...state, index: numbered[state.index]?.index ?? 0 })),
  };
  for await (const measured of agent.measure(requests, options)) {
    const asked = numbered[measured.index];
    if (asked !== undefined) yield { ...measured, index: asked.index };
  }
}
