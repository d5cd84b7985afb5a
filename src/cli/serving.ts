import { ResultPages } from './result-pages/result-pages.js';
import type { ServerSecurity } from '../rpc/security.js';
import { createRpcServer, type RpcServer } from '../rpc/server.js';
import { addPluginService } from '../server/plugin-service.js';
import type { RunningServer } from '../server/server.js';

export { startServer } from '../server/server.js';

export function makeResultPages(data: ConstructorParameters<typeof ResultPages>[0]): ResultPages {
  return new ResultPages(data);
}

/**
 * Opens a second address for the plugins of this machine: on loopback, with tokens and without TLS. The server's
 * certificate does not fit here, because it names the machine as other machines do.
 */
export async function openBackDoor(
  server: RunningServer,
  { token, acceptedTokens }: ServerSecurity,
): Promise<RpcServer & { readonly address: string }> {
  const door = createRpcServer({ security: { token, acceptedTokens } });
  addPluginService(door, server.platform);
  return { ...door, address: await door.listen({ host: '127.0.0.1', port: 0 }) };
}
