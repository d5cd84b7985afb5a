import { messageOf, PlatformError } from '../../base/errors.js';
import { AnalysisServiceService } from '../../generated/mlmodelscope/analysis/v1/analysis.js';
import { createRpcClient, type RpcClientOptions } from '../../rpc/client.js';
import { type AnalysisTable, analysisTableSchema } from '../analysis.js';

/** Longer than a server lets an analysis run: others may be before it. */
const DEADLINE_MS = 10 * 60_000;

export async function runRemoteAnalysis(
  server: string,
  { plugin, analysis, settings }: { readonly plugin: string; readonly analysis: string; readonly settings: object },
  { signal, ...options }: RpcClientOptions & { readonly signal?: AbortSignal | undefined },
): Promise<AnalysisTable> {
  const client = createRpcClient(server, 'server', options);
  try {
    const request = { plugin, analysis, settingsJson: JSON.stringify(settings) };
    const answer = await client.unary(AnalysisServiceService.runAnalysis, request, { deadlineMs: DEADLINE_MS, signal });
    return tableFrom(answer.tableJson, server);
  } finally {
    client.close();
  }
}

function tableFrom(text: string, server: string): AnalysisTable {
  try {
    return analysisTableSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new PlatformError('internal', `${server} answered with something that is no table: ${messageOf(error)}`);
  }
}
