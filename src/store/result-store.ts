import type { Measurement, MeasurementKey } from '../measurement/measurement.js';
import type { System } from '../measurement/system.js';
import type { Collection, CollectionDefinition, CollectionShape } from './collection.js';
import type { SystemCounts } from './system-counts.js';

/**
 * A store of measurements. Every method may be called at any time before {@link ResultStore.close}. A method that
 * cannot do its work throws a PlatformError with code `storage`, with the problem and advice. Data that a resolved
 * promise has stored survives a kill -9 of this process.
 */
export interface ResultStore {
  readonly isReadOnly?: boolean;
  /** Whether the store is made for many machines, so that several servers may use it at once. */
  readonly isShared?: boolean;

  /** Whether its server has not answered for so long that new data stays on this machine. */
  readonly isUnavailable?: boolean;

  /** Inserts a measurement, or replaces the one with the same (signature, system, setup); idempotent. */
  putMeasurement(measurement: Measurement): Promise<void>;

  /** By signature. `system` is a fingerprint. A measurement that cannot be read counts as missing, with a warning. */
  findMeasurements(
    signatures: readonly string[],
    system: string,
    setup: string,
  ): Promise<ReadonlyMap<string, Measurement>>;

  /** All stored measurements of a signature: on each system, in each setup; in any order. */
  measurementsOf(signature: string): Promise<readonly Measurement[]>;

  /** Removes the measurements with these keys. Not atomic. @returns the number of removed measurements */
  deleteMeasurements(keys: readonly MeasurementKey[]): Promise<number>;

  /** Once per fingerprint. A system stays without measurements: other processes may be about to put more. */
  listSystems(): Promise<readonly System[]>;

  listMeasurements(): AsyncIterable<Measurement>;

  /** Of systems with readable measurements. @param onSlow called if all have to be read first, which takes long */
  countSystems(onSlow?: (message: string) => void): Promise<readonly SystemCounts[]>;

  listCollections(): Promise<readonly CollectionShape[]>;

  /** The documents of one kind. Any number of users may have a collection of the same kind at once. */
  collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document>;

  close(): Promise<void>;
}

export interface StoreOptions {
  /** Called with warnings, one sentence each. Without it, Node's own warnings are used. */
  readonly onWarning?: (message: string) => void;
  /** For a store of a server: called with whether results wait on this machine because the server is gone. */
  readonly onSpooled?: (areWaiting: boolean) => void;
  /** Read only: nothing is created, and a store that this user cannot write to is accepted. */
  readonly access?: 'read';
  /** When it aborts, the store no longer waits for an unavailable server. */
  readonly signal?: AbortSignal;
}

export function warnThroughNode(message: string): void {
  process.emitWarning(message, 'StoreWarning');
}
