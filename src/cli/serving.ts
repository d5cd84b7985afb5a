import type { ServerSecurity } from '../rpc/security.js';
import { createRpcServer, type RpcServer } from '../rpc/server.js';
import { addPluginService } from '../server/plugin-service.js';
import type { RunningServer } from '../server/server.js';

export { startServer } from '../server/server.js';

/** An address for this machine's own plugins: the certificate names the machine as other machines do. */
export async function openBackDoor(
  server: RunningServer,
  { token, acceptedTokens }: ServerSecurity,
): Promise<RpcServer & { readonly address: string }> {
  const door = createRpcServer({ security: { token, acceptedTokens } });
  addPluginService(door, server.platform);
  return { ...door, address: await door.listen({ host: '127.0.0.1', port: 0 }) };
}
