import { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import { FairSemaphore } from '../base/fair-semaphore.js';
import { namedAnalysis, pluginWithAnalyses, type Analysts } from '../evaluation/run/named-analysis.js';
import { runAnalysis } from '../evaluation/run/run-analysis.js';
import { type AnalysisServiceServer, AnalysisServiceService } from '../generated/mlmodelscope/analysis/v1/analysis.js';
import { MAX_MESSAGE_BYTES } from '../rpc/limits.js';
import type { RpcServer } from '../rpc/server.js';
import type { ResultStore } from '../store/result-store.js';
import { readText } from '../store/stored-text.js';

const MAX_SETTINGS_LENGTH = 65_536;

/** Of the table in an answer; the rest is for the message around it. */
const MAX_TABLE_BYTES = MAX_MESSAGE_BYTES - 65_536;

/** With the one that runs. */
const MAX_WAITING = 16;

const settingsSchema = z.record(z.string(), z.unknown());

function parseSettings(text: string): object {
  if (text === '') return {};
  if (text.length > MAX_SETTINGS_LENGTH) {
    throw new PlatformError('usage', `settings_json has more than ${MAX_SETTINGS_LENGTH} characters`);
  }
  const read = readText(text, settingsSchema);
  if (!read.ok) throw new PlatformError('usage', 'settings_json is no JSON object');
  return read.value;
}

/** Runs analyses on a store, one at a time, because each may read all of it. */
export function addAnalysisService(server: RpcServer, store: ResultStore, plugins: Analysts): void {
  const turns = new FairSemaphore(1);

  const answers = {
    runAnalysis: server.calls.unary(async (call, signal) => {
      const { plugin, analysis, settingsJson } = call.request;
      const asked = namedAnalysis(analysis, pluginWithAnalyses(plugin, plugins));
      const settings = parseSettings(settingsJson);
      if (turns.waiting >= MAX_WAITING - 1) {
        throw new PlatformError('exhausted', `${MAX_WAITING} analyses are waiting already; ask again later`);
      }
      const table = await turns.run(() => runAnalysis(asked, settings, { store, signal }), { signal });
      const tableJson = JSON.stringify(table);
      if (Buffer.byteLength(tableJson) > MAX_TABLE_BYTES) {
        throw new PlatformError('usage', `the table of ${analysis} is too large for one answer; ask for less of it`);
      }
      return { tableJson };
    }),
  } satisfies AnalysisServiceServer;
  server.addService(AnalysisServiceService, answers);
}
