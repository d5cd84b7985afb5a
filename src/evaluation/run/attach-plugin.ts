import { setTimeout } from 'node:timers/promises';
import { messageOf, PlatformError } from '../../base/errors.js';
import { PluginServiceService } from '../../generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { createRpcClient, type RpcClientOptions } from '../../rpc/client.js';
import type { Evaluation } from '../evaluation.js';
import { fromWirePlatformMessage, toWirePluginMessage } from '../link/link-wire.js';
import type { PluginTools } from './run-evaluation.js';
import { servePlugin } from './serve-plugin.js';
import { streamLink } from '../link/stream-link.js';

/** The renewals are what the server goes by; a stream this old is made anew. */
const STREAM_DEADLINE_MS = 7 * 24 * 3600_000;

/** After a failure; a server that is restarted is back within seconds. */
const RETRY_MS = 1000;

/** Where the server says these, saying the same again is of no use. */
const FINAL = new Set(['usage', 'unauthenticated', 'unsupported']);

export interface AttachOptions {
  readonly client?: RpcClientOptions | undefined;
  /** Aborted: what runs is stopped, and the plugin detaches. */
  readonly signal: AbortSignal;
  /** Called with every registration. */
  readonly onRegistered?: (() => void) | undefined;
  /** Called once when the server stops answering. */
  readonly onLost?: ((problem: string) => void) | undefined;
}

/**
 * Runs a plugin's evaluations for the server at an address, through restarts of the server, until the signal aborts.
 *
 * @throws PlatformError where the server refuses the plugin, for want of a token perhaps
 */
export async function attachPlugin(
  evaluation: Evaluation,
  server: string,
  tools: PluginTools,
  { client: clientOptions, signal, onRegistered, onLost }: AttachOptions,
): Promise<void> {
  const client = createRpcClient(server, 'server', clientOptions);
  let isLost = false;
  try {
    while (!signal.aborted) {
      try {
        const call = client.duplex(PluginServiceService.attach, { deadlineMs: STREAM_DEADLINE_MS });
        const format = { toWire: toWirePluginMessage, fromWire: fromWirePlatformMessage };
        const link = streamLink(call, format, () => call.end());
        await servePlugin(evaluation, link, tools, {
          signal,
          onRegistered: () => {
            isLost = false;
            onRegistered?.();
          },
        });
        if (!isLost && !signal.aborted) onLost?.(`the server at ${server} ended the connection`);
      } catch (thrown) {
        const error = thrown instanceof PlatformError ? thrown : client.failure(thrown);
        if (FINAL.has(error.code)) throw error;
        if (!isLost && !signal.aborted) onLost?.(messageOf(error));
      }
      isLost = true;
      await setTimeout(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    client.close();
  }
}
