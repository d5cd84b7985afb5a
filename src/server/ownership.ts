import type { Leases } from '../store/leases/leases.js';

/** Decides which evaluations of a store a server runs. Every method throws a PlatformError as the store does. */
export interface Ownership {
  /** Whether other servers may run evaluations of the same store. */
  readonly isShared: boolean;
  /** Takes evaluations that no other server runs. @returns those of them that are this server's now */
  take(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The evaluations that are still this server's. Another server takes over those of a silent one. */
  kept(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Lets other servers have an evaluation. */
  release(id: string): Promise<void>;
}

/** The ownership of the only server that uses a store. */
export const SOLE_OWNERSHIP: Ownership = {
  isShared: false,
  take: (ids) => Promise.resolve(new Set(ids)),
  kept: (ids) => Promise.resolve(new Set(ids)),
  release: () => Promise.resolve(),
};

/** The ownership of one of several servers of a store. An evaluation has one server, and passes on when it dies. */
export function leasedOwnership(leases: Leases): Ownership {
  return {
    isShared: true,
    async take(ids) {
      if (ids.length === 0) return new Set();
      const others = await leases.take(ids);
      return new Set(ids.filter((id) => !others.has(id)));
    },
    async kept(ids) {
      if (ids.length === 0) return new Set();
      const held = await leases.held();
      return new Set(ids.filter((id) => held.has(id)));
    },
    release: (id) => leases.release(id),
  };
}
