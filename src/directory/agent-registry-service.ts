import { PlatformError } from '../base/errors.js';
import {
  Agent,
  type AgentRegistryServiceServer,
  AgentRegistryServiceService,
  type ListAgentsRequest,
  type ListAgentsResponse,
} from '../generated/mlmodelscope/registry/v1/registry.js';
import { check } from '../rpc/check-message.js';
import { toWireDuration } from '../rpc/duration.js';
import type { RpcServer } from '../rpc/server.js';
import type { AgentDirectory, RegisteredAgent } from './agent-directory.js';
import { accessTokenSchema } from './agent-offer.js';
import { fromWireAgent, toWireRegistered } from './agent-wire.js';
import { firstPage } from './published-pages.js';

function parsePageToken(pageToken: string): number {
  if (pageToken === '') return 0;
  if (/^\d{1,15}$/.test(pageToken)) return Number(pageToken);
  throw new PlatformError('usage', 'page_token: give the next_page_token of the page before, or none');
}

/** Agents that register meanwhile are on a later page. @throws PlatformError `usage` for an invalid token */
function takePage(
  registered: readonly RegisteredAgent[],
  { pageSize, pageToken }: ListAgentsRequest,
): ListAgentsResponse {
  const after = parsePageToken(pageToken);
  const later = registered.filter(({ number }) => number > after);
  const bytesOf = (agent: RegisteredAgent): number => Agent.encode(toWireRegistered(agent)).finish().length;
  const { items, isLast } = firstPage(later, bytesOf, pageSize === 0 ? Infinity : pageSize);
  const nextPageToken = isLast ? '' : String(items.at(-1)?.number ?? after);
  return { agents: items.map(toWireRegistered), nextPageToken };
}

export function addAgentRegistryService(server: RpcServer, directory: AgentDirectory): void {
  const { calls } = server;

  const answers = {
    registerAgent: calls.unary((call) => {
      const { agent, accessToken } = call.request;
      const holder = {
        name: server.holderOf(call),
        accessToken: check(accessTokenSchema, accessToken, 'access_token'),
      };
      const { id } = directory.register(fromWireAgent(agent), holder);
      return { agentId: id, lease: toWireDuration(directory.leaseMs) };
    }),
    renewAgent: calls.unary((call) => {
      directory.renew(call.request.agentId);
      return {};
    }),
    unregisterAgent: calls.unary((call) => {
      directory.unregister(call.request.agentId);
      return {};
    }),
    listAgents: calls.unary((call) => takePage(directory.list(), call.request)),
  } satisfies AgentRegistryServiceServer;
  server.addService(AgentRegistryServiceService, answers);
}
