import type { Leases } from '../store/leases/leases.js';

/** Decides which evaluations of a store a server runs. Every method throws a PlatformError as the store does. */
export interface Ownership {
  /** Takes evaluations that no other server runs. @returns those of them that this server owns now */
  take(ids: readonly string[]): Promise<ReadonlySet<string>>;
  kept(ids: readonly string[]): Promise<ReadonlySet<string>>;
  release(id: string): Promise<void>;
}

/** The ownership of one of the servers of a store. If the server of an evaluation dies, another takes over. */
export function leasedOwnership(leases: Leases): Ownership {
  return {
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
