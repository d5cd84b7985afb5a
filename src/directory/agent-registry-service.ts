import {
  type AgentRegistryServiceServer,
  AgentRegistryServiceService,
} from '../generated/mlmodelscope/registry/v1/registry.js';
import { check } from '../rpc/check-message.js';
import { toWireDuration } from '../rpc/duration.js';
import type { RpcServer } from '../rpc/server.js';
import type { LeasedDirectory } from './agent-directory.js';
import { accessTokenSchema } from './agent-offer.js';
import { takePage } from './agent-pages.js';
import { fromWireAgent } from './agent-wire.js';

export function addAgentRegistryService(server: RpcServer, directory: LeasedDirectory): void {
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
