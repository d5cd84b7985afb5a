import { PlatformError } from '../base/errors.js';
import {
  Agent,
  type ListAgentsRequest,
  type ListAgentsResponse,
} from '../generated/mlmodelscope/registry/v1/registry.js';
import type { RegisteredAgent } from './agent-directory.js';
import { toWireRegistered } from './agent-wire.js';
import { firstPage } from './page.js';

function numberIn(pageToken: string): number {
  if (pageToken === '') return 0;
  if (/^\d{1,15}$/.test(pageToken)) return Number(pageToken);
  throw new PlatformError('usage', 'page_token: give the next_page_token of the page before, or none');
}

/** Agents that register meanwhile are on a later page. @throws PlatformError `usage` for an invalid token */
export function takePage(
  registered: readonly RegisteredAgent[],
  { pageSize, pageToken }: ListAgentsRequest,
): ListAgentsResponse {
  const after = numberIn(pageToken);
  const later = registered.filter(({ number }) => number > after);
  const bytesOf = (agent: RegisteredAgent): number => Agent.encode(toWireRegistered(agent)).finish().length;
  const { items, isLast } = firstPage(later, bytesOf, pageSize === 0 ? Infinity : pageSize);
  const nextPageToken = isLast ? '' : String(items.at(-1)?.number ?? after);
  return { agents: items.map(toWireRegistered), nextPageToken };
}
