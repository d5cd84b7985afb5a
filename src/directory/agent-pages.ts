import { PlatformError } from '../base/errors.js';
import {
  Agent,
  type ListAgentsRequest,
  type ListAgentsResponse,
} from '../generated/mlmodelscope/registry/v1/registry.js';
import type { RegisteredAgent } from './agent-directory.js';
import { toWireRegistered } from './agent-wire.js';

/** Below the 4 MiB that clients of gRPC take unless they say otherwise. */
const PAGE_BYTES = 3 * 2 ** 20;

interface Message {
  readonly agent: Agent;
  readonly bytes: number;
}

/** Agents do not change, and may be listed often. */
const messages = new WeakMap<RegisteredAgent, Message>();

function messageOf(registered: RegisteredAgent): Message {
  const known = messages.get(registered);
  if (known !== undefined) return known;
  const agent = toWireRegistered(registered);
  const message = { agent, bytes: Agent.encode(agent).finish().length };
  messages.set(registered, message);
  return message;
}

function numberIn(pageToken: string): number {
  if (pageToken === '') return 0;
  if (/^\d{1,15}$/.test(pageToken)) return Number(pageToken);
  throw new PlatformError('usage', 'page_token: give the next_page_token of the page before, or none');
}

/**
 * A page of the agents, which are in the order of their registration. Agents that register meanwhile are on a later
 * page.
 *
 * @throws PlatformError `usage` for an invalid token
 */
export function pageOf(
  registered: readonly RegisteredAgent[],
  { pageSize, pageToken }: ListAgentsRequest,
): ListAgentsResponse {
  const after = numberIn(pageToken);
  const most = pageSize === 0 ? Infinity : pageSize;
  const agents: Agent[] = [];
  let bytes = 0;
  let last = after;
  for (const candidate of registered.filter(({ number }) => number > after)) {
    const message = messageOf(candidate);
    bytes += message.bytes;
    if (agents.length >= most || (agents.length > 0 && bytes > PAGE_BYTES)) {
      return { agents, nextPageToken: String(last) };
    }
    agents.push(message.agent);
    last = candidate.number;
  }
  return { agents, nextPageToken: '' };
}
