/** The settings that an agent's process gets when it starts. */
export interface AgentSettings {
  /** The name of its machine: the agents of one machine take turns. */
  readonly host: string;
  /** Addresses of the servers that it registers with. */
  readonly servers: readonly string[];
  readonly queue: string;
  readonly store: string;
  /** Mean wait for a brick. */
  readonly brickMs: number;
}

/** An item of work, after the agent has waited for it. */
export interface WaitedItem {
  readonly bricks: number;
  /** How long it has waited. */
  readonly waitedMs: number;
  /** Time since the end of the agent's previous wait; undefined for its first one. */
  readonly gapMs: number | undefined;
}

/** The messages of an agent's process to its parent. */
export type AgentTold =
  /** All servers know the agent. */
  { readonly kind: 'registered'; readonly system: string } | ({ readonly kind: 'item' } & WaitedItem);
