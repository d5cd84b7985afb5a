import { PlatformError } from '../../base/errors.js';
import { PluginServiceService } from '../../generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { createRpcClient, type RpcClientOptions } from '../../rpc/client.js';
import { stayConnected, type StayConnectedOptions } from '../../rpc/stay-connected.js';
import type { Evaluation } from '../evaluation.js';
import type { PlatformMessage, PluginMessage } from '../link/link.js';
import type { PluginTools } from './run-evaluation.js';
import { servePlugin } from './serve-plugin.js';
import { streamLink } from '../link/stream-link.js';

/** Long, because the server relies on the plugin's renewals. */
const STREAM_DEADLINE_MS = 7 * 24 * 3600_000;

export interface AttachOptions extends StayConnectedOptions {
  readonly client?: RpcClientOptions | undefined;
  readonly onRegistered?: (() => void) | undefined;
}

/** Serves until the signal aborts, through restarts of the server. @throws PlatformError where the server refuses */
export async function attachPlugin(
  evaluation: Evaluation,
  server: string,
  tools: PluginTools,
  { client: clientOptions, signal, onRegistered, onLost }: AttachOptions,
): Promise<void> {
  const client = createRpcClient(server, 'server', clientOptions);
  const attach = async (answers: () => void): Promise<void> => {
    let isRegistered = false;
    let refusal: unknown;
    try {
      const call = client.duplex(PluginServiceService.attach, { deadlineMs: STREAM_DEADLINE_MS });
      call.on('error', (error: unknown) => (refusal = error));
      const link = streamLink<PluginMessage, PlatformMessage>(call, () => call.end());
      await servePlugin(evaluation, link, tools, {
        signal,
        onRegistered: () => {
          isRegistered = true;
          answers();
          onRegistered?.();
        },
      });
    } catch (thrown) {
      throw thrown instanceof PlatformError ? thrown : client.failure(thrown);
    }
    if (signal.aborted) return;
    // A later end has many possible causes.
    if (!isRegistered && refusal !== undefined) throw client.failure(refusal);
    throw new PlatformError('unavailable', `the server at ${server} ended the connection`);
  };
  try {
    await stayConnected(attach, { signal, onLost });
  } finally {
    client.close();
  }
}
