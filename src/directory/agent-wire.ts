// Between the messages of proto/mlmodelscope/registry/v1 and this project's own types.
import { PlatformError } from '../base/errors.js';
import type { Agent } from '../generated/mlmodelscope/registry/v1/registry.js';
import { check } from '../rpc/check-message.js';
import type { RegisteredAgent } from './agent-directory.js';
import { type AgentOffer, agentOfferSchema } from './agent-offer.js';

export function toWireAgent(agent: AgentOffer | RegisteredAgent): Agent {
  const { memoryBytes, models, ...rest } = agent;
  return {
    ...rest,
    memoryBytes: BigInt(Math.round(memoryBytes)),
    models: [...models],
    registeredAt: 'registeredAt' in agent ? new Date(agent.registeredAt) : undefined,
  };
}

/** @throws PlatformError `usage` */
export function fromWireAgent(message: Agent | undefined): AgentOffer {
  if (message === undefined) return check(agentOfferSchema, message, 'agent');
  const { registeredAt, memoryBytes, ...rest } = message;
  if (registeredAt !== undefined) throw new PlatformError('usage', 'agent.registered_at is for the server to say');
  return check(agentOfferSchema, { ...rest, memoryBytes: Number(memoryBytes) }, 'agent');
}
