import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { Measurement } from '../measurement/measurement.js';
import { knownResults, buildWanted } from '../measuring/known-results.js';
import type { ResultStore } from '../store/result-store.js';
import type { Answers } from './answers.js';
import type { WorkItem, WorkRequest } from './work-item.js';

export interface MeasureItemOptions {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  readonly answers: Answers;
  readonly signal: AbortSignal;
}

/** What was measured since the item was made is not measured again. @throws PlatformError as agent and store do */
export async function measureItem(id: string, item: WorkItem, options: MeasureItemOptions): Promise<void> {
  const { agent, store, answers, signal } = options;
  const { requests, wantedBy } = item;

  const answer = async (index: number, measurement: Measurement, isStored: boolean): Promise<void> => {
    if (wantedBy === undefined) return;
    const stored = isStored ? ({ is_stored: true } as const) : {};
    await answers.put({ item: id, request: String(index), wanted_by: wantedBy, measurement, ...stored });
  };

  const keep = async (index: number, measurement: Measurement): Promise<void> => {
    const isKept = isStoredHere(requests[index], measurement, wantedBy);
    if (isKept) await store.putMeasurement(measurement);
    // If the store's server is gone, the measurement waits on this machine.
    await answer(index, measurement, isKept && store.isUnavailable !== true);
  };

  const answered = new Set<number>();
  for await (const { request } of answers.find({ item: id })) answered.add(Number(request));
  const stored = await knownResults(
    requests.map(({ request }) => buildWanted(request)),
    agent.description,
    store,
  );
  const left: number[] = [];
  for (const [index, { request, replaces }] of requests.entries()) {
    if (answered.has(index)) continue;
    const measurement = stored.get(request);
    if (measurement === undefined || measurement.measuredAt === replaces) left.push(index);
    else await answer(index, measurement, true);
  }
  const asked = left.flatMap((index) => requests[index]?.request ?? []);
  const keeping: Promise<void>[] = [];
  try {
    for await (const { index: position, measurement } of agent.measure(asked, { signal })) {
      const index = left[position];
      if (index === undefined) continue;
      const kept = keep(index, measurement);
      // Awaited below.
      kept.catch(() => undefined);
      keeping.push(kept);
    }
  } finally {
    await Promise.all(keeping);
  }
}

/** A waiting caller decides whether a measurement replaces a stored one. */
function isStoredHere(asked: WorkRequest | undefined, { outcome }: Measurement, wantedBy: string | undefined): boolean {
  return asked?.replaces === undefined || (wantedBy === undefined && outcome.kind === 'samples');
}
