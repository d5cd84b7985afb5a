import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { throwIfCancelled } from '../../base/cancellation.js';
import { describeForeignError, PlatformError } from '../../base/errors.js';
import { schemaProblem, schemaProblems } from '../../base/schema-problems.js';
import { suggestion } from '../../base/suggestion.js';
import type { ResultStore } from '../../store/result-store.js';
import { type Analysis, type AnalysisTable, analysisTableSchema, type ReadableStore } from '../analysis.js';
import { untilStopped } from './run-plugin.js';

const TIME_LIMIT_MS = 5 * 60_000;

export interface RunAnalysisOptions {
  readonly store: ResultStore;
  readonly signal: AbortSignal;
  readonly timeLimitMs?: number;
}

export function settingNames({ settings }: Pick<Analysis, 'settings'>): readonly string[] {
  return Object.keys(z.toJSONSchema(settings, { io: 'input' }).properties ?? {});
}

function settingProblem(issue: z.core.$ZodIssue, known: readonly string[]): string {
  if (issue.code !== 'unrecognized_keys') return schemaProblem(issue);
  const unknown = issue.keys.map((key) => {
    const meant = suggestion(key, known);
    return meant === undefined ? key : `${key} (did you mean ${meant}?)`;
  });
  const there = known.length === 0 ? 'it has no settings' : `there are ${known.join(', ')}`;
  return `there is no setting ${unknown.join(', ')}; ${there}`;
}

function parseSettings(analysis: Analysis, settings: object): unknown {
  const parsed = analysis.settings.safeParse(settings);
  if (parsed.success) return parsed.data;
  const known = settingNames(analysis);
  const problems = parsed.error.issues.map((issue) => settingProblem(issue, known));
  throw new PlatformError('usage', `settings of ${analysis.name}: ${problems.join('; ')}`);
}

/** Then timers and signals get their turn: a store in memory never waits by itself. */
const READ_AT_ONCE = 256;

async function* whileWanted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  let read = 0;
  for await (const item of source) {
    if (++read % READ_AT_ONCE === 0) await setImmediate();
    throwIfCancelled(signal);
    yield item;
  }
}

function readableStore(store: ResultStore, signal: AbortSignal): ReadableStore {
  async function whenWanted<T>(read: () => Promise<T>): Promise<T> {
    await setImmediate();
    throwIfCancelled(signal);
    return await read();
  }
  return {
    findMeasurements: (...keys) => whenWanted(() => store.findMeasurements(...keys)),
    listSystems: () => whenWanted(() => store.listSystems()),
    listMeasurements: () => whileWanted(store.listMeasurements(), signal),
    listCollections: () => whenWanted(() => store.listCollections()),
    collection: (definition) => {
      const documents = store.collection(definition);
      return {
        get: (key) => whenWanted(() => documents.get(key)),
        find: (match) => whileWanted(documents.find(match), signal),
      };
    },
  };
}

/**
 * An analysis is untrusted: its result is checked, and one that does not end is abandoned.
 *
 * @throws PlatformError `usage` for wrong settings, `timeout`, `cancelled`, `internal` where the analysis fails or
 *   returns no valid table, and the PlatformErrors that it throws
 */
export async function runAnalysis(
  analysis: Analysis,
  settings: object,
  { store, signal, timeLimitMs = TIME_LIMIT_MS }: RunAnalysisOptions,
): Promise<AnalysisTable> {
  const parsed = parseSettings(analysis, settings);
  throwIfCancelled(signal);
  const limit = new AbortController();
  const tooLong = `the analysis ${analysis.name} did not end within ${timeLimitMs / 1000} s; ask it for less`;
  const timer = setTimeout(() => limit.abort(new PlatformError('timeout', tooLong)), timeLimitMs);
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    const context = { store: readableStore(store, either), signal: either };
    const returned: unknown = await untilStopped(analysis.run(parsed, context), either, 0);
    const table = analysisTableSchema.safeParse(returned);
    if (table.success) return table.data;
    const problems = schemaProblems(table.error);
    const problem = `the analysis ${analysis.name} returned no table that can be shown: ${problems.join('; ')}`;
    throw new PlatformError('internal', `${problem}; report it to the plugin's author, or ask it for less`);
  } catch (thrown) {
    if (thrown instanceof PlatformError) throw thrown;
    throw new PlatformError('internal', `the analysis ${analysis.name} failed: ${describeForeignError(thrown)}`, {
      cause: thrown,
    });
  } finally {
    clearTimeout(timer);
  }
}
