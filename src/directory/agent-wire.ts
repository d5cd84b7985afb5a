import { PlatformError } from '../base/errors.js';
import type { Agent } from '../generated/mlmodelscope/registry/v1/registry.js';
import { check } from '../rpc/check-message.js';
import type { RegisteredAgent } from './agent-directory.js';
import { type AgentOffer, agentOfferSchema } from './agent-offer.js';

export function toWireAgent({ memoryBytes, models, ...offer }: AgentOffer): Agent {
  return { ...offer, memoryBytes: BigInt(Math.round(memoryBytes)), models: [...models], registeredAt: undefined };
}

/** Without the lease and the secrets. */
export function toWireRegistered({ id: _id, accessToken: _token, number: _number, ...agent }: RegisteredAgent): Agent {
  return { ...toWireAgent(agent), registeredAt: new Date(agent.registeredAt) };
}

/** @throws PlatformError `usage` */
export function fromWireAgent(message: Agent | undefined): AgentOffer {
  if (message === undefined) return check(agentOfferSchema, message, 'agent');
  const { registeredAt, memoryBytes, ...rest } = message;
  if (registeredAt !== undefined)
    throw new PlatformError('usage', 'agent.registered_at is set by the server; leave it out');
  return check(agentOfferSchema, { ...rest, memoryBytes: Number(memoryBytes) }, 'agent');
}
