import { cpuMsPerBrick, type RunFigures } from './figures.js';
import type { ProcessRole } from './processes.js';
import type { StoreSize } from './store-size.js';

/** A hypothetical fleet. */
export interface Fleet {
  readonly agents: number;
  readonly measurements: number;
  readonly evaluationBricks: number;
  /** Mean time of an agent for a brick; ms. */
  readonly brickMs: number;
}

/** The work of the processes of one role. */
export interface Load {
  readonly role: ProcessRole;
  /** Processor time for each brick; ms. */
  readonly cpuMs: number;
  /** Agents that keep one core of this role busy. */
  readonly agentsPerCore: number;
  /** Cores that the fleet needs for this role. */
  readonly cores: number;
}

/** The fleet's times and rates, where nothing saturates. */
export interface Rates {
  readonly hours: number;
  readonly bricksPerSecond: number;
  readonly itemBricks: number;
  readonly itemsPerSecond: number;
  /** Heartbeats of agents, and reads to check whether their work is still wanted. */
  readonly beatsPerSecond: number;
  readonly looksPerSecond: number;
}

/** Roles whose processes serve all agents. */
const SHARED: readonly ProcessRole[] = ['server', 'plugin', 'broker', 'database'];

/**
 * Fewest and most bricks of an item, and the number of items that an agent gets from one evaluation
 * (src/agent/client/divide-work.ts).
 */
const FEWEST = 8;
const MOST = 64;
const ITEMS_EACH = 2;

/**
 * For each agent: a heartbeat every 2 s (src/store/leases), and a check of two reads every 3 s
 * (src/work/serve-work.ts).
 */
const BEATS_PER_SECOND = 1 / 2;
const LOOKS_PER_SECOND = 2 / 3;

/** The fleet's load on the processes that its agents share; the first to saturate comes first. */
export function loadsOf(runs: readonly RunFigures[], { agents, brickMs }: Fleet): readonly Load[] {
  return SHARED.flatMap((role): Load | readonly [] => {
    const cpuMs = cpuMsPerBrick(runs, role);
    if (cpuMs === null || cpuMs === 0) return [];
    const agentsPerCore = brickMs / cpuMs;
    return { role, cpuMs, agentsPerCore, cores: agents / agentsPerCore };
  }).toSorted((one, other) => one.agentsPerCore - other.agentsPerCore);
}

/** The times and rates of the fleet where nothing saturates. */
export function ratesOf({ agents, measurements, evaluationBricks, brickMs }: Fleet): Rates {
  const bricksPerSecond = (agents * 1000) / brickMs;
  const itemBricks = Math.min(MOST, Math.max(FEWEST, Math.ceil(evaluationBricks / (ITEMS_EACH * agents))));
  return {
    hours: measurements / bricksPerSecond / 3600,
    bricksPerSecond,
    itemBricks,
    itemsPerSecond: bricksPerSecond / itemBricks,
    beatsPerSecond: agents * BEATS_PER_SECOND,
    looksPerSecond: agents * LOOKS_PER_SECOND,
  };
}

/** Bytes of the fleet's measurements in MongoDB: documents and indexes, before any compression. */
export function storeBytesOf({ documentBytes, indexes }: StoreSize, measurements: number) {
  const indexBytes = indexes.map(({ name, keyBytes }) => ({ name, bytes: keyBytes * measurements }));
  return { documents: documentBytes * measurements, indexes: indexBytes };
}
