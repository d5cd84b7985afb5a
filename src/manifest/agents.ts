import { z } from 'zod';

const MAX_AGENTS = 1000;

const expected = `one, all or a whole number from 1 to ${MAX_AGENTS}`;

export const agentsField = z.union(
  [z.enum(['one', 'all']), z.int().min(1, { error: expected }).max(MAX_AGENTS, { error: expected })],
  { error: expected },
);

/** `spread`: identical machines share the work. `each`: every system among the agents gets estimates of its own. */
export const PLACEMENTS = ['spread', 'each'] as const;

export const placementField = z.enum(PLACEMENTS, { error: PLACEMENTS.join(' or ') });

export type Placement = (typeof PLACEMENTS)[number];

export interface AgentChoice {
  /** Infinity for all. */
  readonly most: number;
  readonly placement: Placement;
}

export const ONE_AGENT: AgentChoice = { most: 1, placement: 'spread' };

export function mostAgents(agents: z.infer<typeof agentsField>): number {
  if (agents === 'one') return 1;
  return agents === 'all' ? Infinity : agents;
}

export function isOneAgent({ most, placement }: AgentChoice): boolean {
  return most === 1 && placement === 'spread';
}
