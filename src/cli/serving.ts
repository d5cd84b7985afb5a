import type { ServerSecurity } from '../rpc/security.js';
import { createRpcServer, type RpcServer } from '../rpc/server.js';
import { addPluginService } from '../server/plugin-service.js';
import type { RunningServer } from '../server/server.js';

export { ResultPages } from './result-pages/result-pages.js';
export { startServer } from '../server/server.js';

/** For plugins of this machine: on loopback, without TLS, because the server's certificate names it as others do. */
export async function openBackDoor(
  server: RunningServer,
  { token, acceptedTokens }: ServerSecurity,
): Promise<RpcServer & { readonly address: string }> {
  const door = createRpcServer({ security: { token, acceptedTokens } });
  addPluginService(door, server.platform);
  return { ...door, address: await door.listen({ host: '127.0.0.1', port: 0 }) };
}
