import { AgentRegistryServiceService } from '../generated/mlmodelscope/registry/v1/registry.js';
import { createRpcClient, type RpcClientOptions } from '../rpc/client.js';
import type { RegisteredAgent } from './agent-directory.js';
import { fromWireAgent } from './agent-wire.js';

const DEADLINE_MS = 10_000;

/** An agent as anybody may see it. */
export type ListedAgent = Omit<RegisteredAgent, 'id'>;

/**
 * The agents that are registered with the platform's server at an address.
 *
 * @throws PlatformError `unsupported` where it is another kind of server, else as {@link createRpcClient}
 */
export async function listAgents(server: string, options?: RpcClientOptions): Promise<readonly ListedAgent[]> {
  const client = createRpcClient(server, 'server', options);
  try {
    const { agents } = await client.unary(AgentRegistryServiceService.listAgents, {}, { deadlineMs: DEADLINE_MS });
    return agents.map(({ registeredAt, ...agent }) => {
      const offer = fromWireAgent({ ...agent, registeredAt: undefined });
      return { ...offer, registeredAt: registeredAt?.toISOString() ?? '' };
    });
  } finally {
    client.close();
  }
}
