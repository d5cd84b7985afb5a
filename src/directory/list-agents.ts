import { AgentRegistryServiceService } from '../generated/mlmodelscope/registry/v1/registry.js';
import { createRpcClient, type RpcClientOptions } from '../rpc/client.js';
import type { RegisteredAgent } from './agent-directory.js';
import { fromWireAgent } from './agent-wire.js';

const DEADLINE_MS = 10_000;

export type ListedAgent = Omit<RegisteredAgent, 'id' | 'number' | 'accessToken'>;

const MAX_PAGES = 1000;

/** @throws PlatformError `unsupported` where it is another kind of server, else as {@link createRpcClient} */
export async function listAgents(server: string, options?: RpcClientOptions): Promise<readonly ListedAgent[]> {
  const client = createRpcClient(server, 'server', options);
  try {
    const listed: ListedAgent[] = [];
    let pageToken = '';
    for (let page = 0; page < MAX_PAGES; page++) {
      const request = { pageSize: 0, pageToken };
      const answer = await client.unary(AgentRegistryServiceService.listAgents, request, { deadlineMs: DEADLINE_MS });
      for (const { registeredAt, ...agent } of answer.agents) {
        const offer = fromWireAgent({ ...agent, registeredAt: undefined });
        listed.push({ ...offer, registeredAt: registeredAt?.toISOString() ?? '' });
      }
      pageToken = answer.nextPageToken;
      if (pageToken === '') break;
    }
    return listed;
  } finally {
    client.close();
  }
}
