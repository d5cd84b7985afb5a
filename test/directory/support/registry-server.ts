import type { TestContext } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { createDirectory } from '../../../src/directory/agent-directory.js';
import { addAgentRegistryService } from '../../../src/directory/agent-registry-service.js';
import { addRegistryService } from '../../../src/directory/registry-service.js';
import { createRpcClient } from '../../../src/rpc/client.js';
import type { ServerSecurity } from '../../../src/rpc/security.js';
import { createRpcServer } from '../../../src/rpc/server.js';

export interface RegistryServerOptions {
  readonly port?: number;
  readonly leaseMs?: number;
  readonly security?: ServerSecurity;
}

/** A server with only the registries, and a client for it, without TLS. */
export async function registryServer(t: TestContext, options: RegistryServerOptions = {}) {
  const { port = 0, leaseMs, security = {} } = options;
  const directory = createDirectory(leaseMs === undefined ? {} : { leaseMs });
  const server = createRpcServer({ security });
  addAgentRegistryService(server, directory);
  addRegistryService(server, directory);
  const address = await server.listen({ host: '127.0.0.1', port });
  const client = createRpcClient(address, 'server', { security: { token: security.token } });
  const close = (): Promise<void> => server.close(new PlatformError('unavailable', 'the server is shutting down'));
  t.after(async () => {
    client.close();
    await close();
  });
  return { directory, address, client, close };
}
