import type { handleUnaryCall } from '@grpc/grpc-js';
import {
  AgentRegistryServiceService,
  type ListAgentsRequest,
  type ListAgentsResponse,
  type RegisterAgentRequest,
  type RegisterAgentResponse,
  type RenewAgentRequest,
  type RenewAgentResponse,
  type UnregisterAgentRequest,
  type UnregisterAgentResponse,
} from '../generated/mlmodelscope/registry/v1/registry.js';
import { check } from '../rpc/check-message.js';
import { toWireDuration } from '../rpc/duration.js';
import type { RpcServer } from '../rpc/server.js';
import type { LeasedDirectory } from './agent-directory.js';
import { accessTokenSchema } from './agent-offer.js';
import { pageOf } from './agent-pages.js';
import { fromWireAgent } from './agent-wire.js';

export function addAgentRegistryService(server: RpcServer, directory: LeasedDirectory): void {
  const { calls } = server;

  const registerAgent: handleUnaryCall<RegisterAgentRequest, RegisterAgentResponse> = (call, callback) => {
    void calls.answer(call, callback, () => {
      const { agent, accessToken } = call.request;
      const holder = {
        name: server.holderOf(call),
        accessToken: check(accessTokenSchema, accessToken, 'access_token'),
      };
      const { id } = directory.register(fromWireAgent(agent), holder);
      return { agentId: id, lease: toWireDuration(directory.leaseMs) };
    });
  };

  const renewAgent: handleUnaryCall<RenewAgentRequest, RenewAgentResponse> = (call, callback) => {
    void calls.answer(call, callback, () => {
      directory.renew(call.request.agentId);
      return {};
    });
  };

  const unregisterAgent: handleUnaryCall<UnregisterAgentRequest, UnregisterAgentResponse> = (call, callback) => {
    void calls.answer(call, callback, () => {
      directory.unregister(call.request.agentId);
      return {};
    });
  };

  const listAgents: handleUnaryCall<ListAgentsRequest, ListAgentsResponse> = (call, callback) => {
    void calls.answer(call, callback, () => pageOf(directory.list(), call.request));
  };

  server.addService(AgentRegistryServiceService, { registerAgent, renewAgent, unregisterAgent, listAgents });
}
