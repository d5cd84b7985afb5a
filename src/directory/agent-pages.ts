import { PlatformError } from '../base/errors.js';
import {
  Agent,
  type ListAgentsRequest,
  type ListAgentsResponse,
} from '../generated/mlmodelscope/registry/v1/registry.js';
import type { RegisteredAgent } from './agent-directory.js';
import { toWireRegistered } from './agent-wire.js';
import { firstPage } from './page.js';

interface Message {
  readonly agent: Agent;
  readonly bytes: number;
}

/** The messages of agents. They are kept, because agents do not change and may be listed often. */
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
 * @param turn lets other work run
 * @throws PlatformError `usage` for an invalid token
 */
export async function pageOf(
  registered: readonly RegisteredAgent[],
  { pageSize, pageToken }: ListAgentsRequest,
  turn: () => Promise<void>,
): Promise<ListAgentsResponse> {
  const after = numberIn(pageToken);
  const later = registered.filter(({ number }) => number > after);
  const most = pageSize === 0 ? undefined : pageSize;
  const { items, isLast } = await firstPage(later, { bytesOf: (agent) => messageOf(agent).bytes, most, turn });
  const nextPageToken = isLast ? '' : String(items.at(-1)?.number ?? after);
  return { agents: items.map((agent) => messageOf(agent).agent), nextPageToken };
}
