import { randomUUID } from 'node:crypto';
import { attendedMs } from '../base/clock.js';
import { PlatformError } from '../base/errors.js';
import { findRemedies, type UnmetRequirement } from '../manifest/requirements.js';
import { type AgentOffer, encodedSize } from './agent-offer.js';

export interface RegisteredAgent extends AgentOffer {
  /** Of its lease; secret. */
  readonly id: string;
  /** To show to this agent only; '' for none. Secret. */
  readonly accessToken: string;
  /** Later registrations have greater numbers. */
  readonly number: number;
  readonly registeredAt: string;
}

/** Empty where the agent fits. */
export type Unmet = (agent: RegisteredAgent) => readonly UnmetRequirement[];

export interface AgentHolder {
  /** Of the token of registration; '' on a server without several holders. */
  readonly name: string;
  readonly accessToken: string;
}

const NO_HOLDER: AgentHolder = { name: '', accessToken: '' };

const DEFAULT_LEASE_MS = 30_000;

const MAX_AGENTS = 1000;

/** By {@link encodedSize}: room for a hundred agents with all models of the platform. */
const MAX_SIZE = 48 * 2 ** 20;

/** Plugins write it. */
const MAX_REASON = 1000;

interface Entry {
  readonly agent: RegisteredAgent;
  readonly holder: AgentHolder;
  readonly size: number;
  expiresMs: number;
  chosen: number;
  /** Why it gets no work. */
  aside?: string | undefined;
}

function isSameHolder(one: AgentHolder, other: AgentHolder): boolean {
  return one.name === other.name || (one.accessToken !== '' && one.accessToken === other.accessToken);
}

export type AgentDirectory = ReturnType<typeof createDirectory>;

/**
 * In memory: agents register again when their lease is unknown.
 *
 * @param options.now never goes back; the default does not count the server's own lateness
 */
export function createDirectory({
  leaseMs = DEFAULT_LEASE_MS,
  now = attendedMs,
}: {
  readonly leaseMs?: number;
  readonly now?: () => number;
} = {}) {
  const entries = new Map<string, Entry>();
  let choices = 0;
  let registrations = 0;
  let listed: readonly RegisteredAgent[] | undefined;

  function remove(id: string): void {
    if (entries.delete(id)) listed = undefined;
  }

  function live(): readonly Entry[] {
    const time = now();
    for (const [id, { expiresMs }] of entries) if (expiresMs <= time) remove(id);
    return [...entries.values()];
  }

  function fitting(unmet: Unmet): readonly [Entry, ...Entry[]] {
    const judged = live().map((entry) => ({ entry, problems: unmet(entry.agent) }));
    const [first, ...rest] = judged
      .filter(({ problems }) => problems.length === 0)
      .map(({ entry }) => entry)
      .sort((a, b) => a.chosen - b.chosen);
    if (first !== undefined) return [first, ...rest];
    if (judged.length === 0) {
      const advice = 'start one with `mlmodelscope agent --server ADDRESS`';
      throw new PlatformError('unavailable', `no agent is registered; ${advice}`);
    }
    const lines = judged.flatMap(({ entry, problems }) => {
      return problems.map(({ problem }) => `  ${entry.agent.address}: ${problem}`);
    });
    const advice = ['start an agent that does', ...findRemedies(judged.flatMap(({ problems }) => problems))].join(
      '; or: ',
    );
    throw new PlatformError('unsupported', [`no agent meets the constraints; ${advice}:`, ...lines].join('\n'));
  }

  function inReach(fit: readonly Entry[]): readonly [Entry, ...Entry[]] {
    const [first, ...rest] = fit.filter(({ aside }) => aside === undefined);
    if (first !== undefined) return [first, ...rest];
    const heading =
      'no agent that meets the constraints can be reached; one gets work when it renews its registration:';
    throw new PlatformError('unavailable', [heading, ...fit.map(({ aside = '' }) => `  ${aside}`)].join('\n'));
  }

  function chosen(entry: Entry): RegisteredAgent {
    entry.chosen = ++choices;
    return entry.agent;
  }

  return {
    leaseMs,

    /** In the order of registration. */
    list(): readonly RegisteredAgent[] {
      const entriesNow = live();
      return (listed ??= entriesNow.map(({ agent }) => agent));
    },

    /**
     * Chooses the fitting agent that waited longest.
     *
     * @throws PlatformError `unavailable` where no agent is registered; `unsupported` where none fits, with all reasons
     */
    choose: (unmet: Unmet): RegisteredAgent => chosen(fitting(unmet)[0]),

    /**
     * All fitting agents without those that are set aside, the one that waited longest first.
     *
     * @param used that many agents count as chosen
     * @throws PlatformError as {@link choose}; `unavailable` with all reasons where all that fit are set aside
     */
    chooseAll(unmet: Unmet, used: number): readonly [RegisteredAgent, ...RegisteredAgent[]] {
      const [first, ...rest] = inReach(fitting(unmet));
      return [chosen(first), ...rest.map((entry, index) => (index + 1 < used ? chosen(entry) : entry.agent))];
    },

    /**
     * Replaces the agent at the same address, if it has the same holder or token.
     *
     * @throws PlatformError `exhausted` where there are too many; `forbidden` where the address has another holder
     */
    register(offer: AgentOffer, holder = NO_HOLDER): RegisteredAgent {
      const known = live();
      const previous = known.find(({ agent }) => agent.address === offer.address);
      if (previous !== undefined && !isSameHolder(previous.holder, holder)) {
        const problem = `an agent at ${offer.address} is registered with the token of another holder`;
        throw new PlatformError('forbidden', `${problem}; register another address, or wait until it has ended`);
      }
      const others = known.filter((entry) => entry !== previous);
      if (others.length >= MAX_AGENTS) {
        throw new PlatformError('exhausted', `${MAX_AGENTS} agents are registered already; stop one first`);
      }
      const size = encodedSize(offer);
      if (others.reduce((sum, entry) => sum + entry.size, size) > MAX_SIZE) {
        const problem = `the offers of all agents would take more than ${MAX_SIZE / 2 ** 20} MiB`;
        throw new PlatformError('exhausted', `${problem}; stop one first, or offer fewer models`);
      }
      if (previous !== undefined) remove(previous.agent.id);
      const registered = { id: randomUUID(), number: ++registrations, registeredAt: new Date().toISOString() };
      const agent = { ...offer, ...registered, accessToken: holder.accessToken };
      listed = undefined;
      entries.set(agent.id, { agent, holder, size, expiresMs: now() + leaseMs, chosen: previous?.chosen ?? 0 });
      return agent;
    },

    /** @throws PlatformError `not_found` for an unknown lease or one that has run out */
    renew(id: string): void {
      const entry = live().find(({ agent }) => agent.id === id);
      if (entry === undefined) {
        throw new PlatformError('not_found', 'no agent is registered under this id; register again');
      }
      entry.expiresMs = now() + leaseMs;
      entry.aside = undefined;
    },

    /** Until the agent renews its lease or registers again. @param id of its lease, which may have ended */
    setAside(id: string, reason: string): void {
      const entry = entries.get(id);
      if (entry !== undefined) entry.aside = reason.slice(0, MAX_REASON);
    },

    unregister: remove,
  };
}
