import {
  type BenchmarkAgent,
  dimensionsText,
  keepEvaluated,
  type LoadedModel,
  type QueryRecord,
  type ResultStore,
  type System,
} from '../../src/plugin-api.js';
import type { LoadRow } from './load-result.js';

/** Most runs of an evaluation: each is a span of its trace. */
const MAX_RUNS = 1000;

export interface TrialDocuments {
  readonly store: ResultStore;
  readonly agent: Pick<BenchmarkAgent, 'description'>;
  readonly system: System;
  readonly scenario: string;
}

/** Queries of one batch share a run. */
function listRuns(records: readonly QueryRecord[]): readonly number[] {
  const runs = new Map<string, number>();
  for (const { startedMs, finishedMs, server } of records) {
    if (startedMs !== null) runs.set(`${server} ${startedMs}`, finishedMs - startedMs);
  }
  return [...runs.values()].slice(0, MAX_RUNS);
}

export async function keepTrial(
  loaded: LoadedModel,
  { measured, samples, batch_limit, clients, offered_per_second, seed }: LoadRow,
  records: readonly QueryRecord[],
  { store, agent, system, scenario }: TrialDocuments,
): Promise<void> {
  const runs = listRuns(records);
  const hasResult = measured?.ended === 'complete' && measured.invalid === null;
  if (store.isReadOnly === true || !hasResult || runs.length === 0) return;
  const { achieved_per_second, p50_ms, p90_ms, p99_ms } = measured;
  const endedAt = new Date().toISOString();
  const figures = { samples: samples.join(' '), batch_limit, clients, offered_per_second, seed };
  const shown = { scenario, ...figures, achieved_per_second, p50_ms, p90_ms, p99_ms };
  const metadata = Object.entries(shown).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
  const [batchSize = 1] = samples;
  const runId = JSON.stringify([system.fingerprint, 'load', scenario, figures]);
  await keepEvaluated(store, {
    id: `${loaded.name} ${runId} ${endedAt}`,
    runId,
    model: {
      name: loaded.name,
      manifest: loaded.manifest,
      batchSize,
      dimensions: dimensionsText(loaded, batchSize),
    },
    system,
    host: agent.description.host,
    endedAt,
    level: 'MODEL_TRACE',
    warmupMs: [],
    runs: runs.map((durationMs) => ({ durationMs, layers: [] })),
    metadata: Object.fromEntries(metadata) as Record<string, string>,
  });
}
