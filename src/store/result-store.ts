import type { Measurement } from '../measurement/measurement.js';
import type { System } from '../measurement/system.js';

/**
 * Where measurements are kept. Every method may be called at any time before {@link ResultStore.close}; a method that
 * cannot do its work throws a PlatformError with code `storage` that says what failed and what to do. What a resolved
 * promise has stored survives a kill -9 of this process.
 */
export interface ResultStore {
  /** Inserts, or replaces the one with the same (signature, system, protocol); idempotent. */
  putMeasurement(measurement: Measurement): Promise<void>;

  /** Those of the asked signatures that are there, by signature. `system` is a fingerprint, `protocol` a protocol key. */
  findMeasurements(
    signatures: readonly string[],
    system: string,
    protocol: string,
  ): Promise<ReadonlyMap<string, Measurement>>;

  /** Every system that has at least one measurement. */
  listSystems(): Promise<readonly System[]>;

  close(): Promise<void>;
}
