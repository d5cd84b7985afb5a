import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import type { AttachRequest } from '../generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { attachInBytes, type AttachResponseInBytes } from '../evaluation/link/run-wire.js';
import type { RpcServer } from '../rpc/server.js';
import { MAX_RESULT_BYTES } from '../evaluation/event.js';
import type { PlatformMessageInBytes, PluginMessage } from '../evaluation/link/link.js';
import type { Platform } from './platform.js';
import { streamLink } from '../evaluation/link/stream-link.js';

/** Room for a result and the message around it. */
const MAX_REQUEST_BYTES = MAX_RESULT_BYTES * 1.25;

export function addPluginService(server: RpcServer, platform: Platform): void {
  const { calls } = server;

  const attach: handleBidiStreamingCall<AttachRequest, AttachResponseInBytes> = (call) => {
    // When `attach` ends, `calls.stream` ends the call with the right status.
    const link = streamLink<PlatformMessageInBytes, PluginMessage>(call, () => {});
    void calls.stream(call, async (signal) => {
      signal.addEventListener('abort', () => link.close(), { once: true });
      await platform.attach(link, () => server.receivedBytes(call));
    });
  };

  server.addService({ attach: attachInBytes }, { attach }, { maxRequestBytes: { attach: MAX_REQUEST_BYTES } });
}
