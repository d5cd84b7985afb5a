import type { Measurement, MeasurementKey } from '../measurement/measurement.js';
import type { System } from '../measurement/system.js';
import type { Collection, CollectionDefinition, CollectionShape } from './collection.js';

/**
 * Where measurements are kept. Every method may be called at any time before {@link ResultStore.close}; a method that
 * cannot do its work throws a PlatformError with code `storage` that says what failed and what to do. Data that a
 * resolved promise has stored survives a kill -9 of this process.
 */
export interface ResultStore {
  /** Whether everything that would change it is refused. */
  readonly isReadOnly?: boolean;
  /** Whether it is made for many machines, so that several servers may use it at once. */
  readonly isShared?: boolean;

  /** Whether its server did not answer for so long that everything that is put stays on this machine. */
  readonly isGone?: boolean;

  /** Inserts, or replaces the one with the same (signature, system, setup); idempotent. */
  putMeasurement(measurement: Measurement): Promise<void>;

  /**
   * Those of the asked signatures that are there, by signature. `system` is a fingerprint, `setup` a setup key. A
   * stored measurement that cannot be read any more counts as missing, and a warning says so.
   */
  findMeasurements(
    signatures: readonly string[],
    system: string,
    setup: string,
  ): Promise<ReadonlyMap<string, Measurement>>;

  /** Removes those with these keys, as far as they are there. Not all or nothing. @returns how many there were */
  deleteMeasurements(keys: readonly MeasurementKey[]): Promise<number>;

  /**
   * Every system that measurements were put of, once per fingerprint; also where they have been deleted since, because other
   * processes may be about to put more.
   */
  listSystems(): Promise<readonly System[]>;

  /** Every measurement, in the order of their keys; for moving a store. Unreadable ones are left out, with a warning. */
  listMeasurements(): AsyncIterable<Measurement>;

  /** The shape of every kind of document that has been stored, by name. */
  listCollections(): Promise<readonly CollectionShape[]>;

  /** The documents of one kind. Any number of users may have one at once, also of the same kind. */
  collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document>;

  /** Waits for puts that are under way. Closing twice is fine; anything else afterwards is an error. */
  close(): Promise<void>;
}

/** Options of every backend. */
export interface StoreOptions {
  /** Called with warnings, one sentence each. Without it, Node's own warnings are used. */
  readonly onWarning?: (message: string) => void;
  /** For a server: called once, when something stays on this machine because the server is gone. */
  readonly onSpooled?: () => void;
  /** To read only: nothing is created, and a store that this user cannot write to will do. */
  readonly access?: 'read';
  /** Aborted: no more waiting for a server that is away. */
  readonly signal?: AbortSignal;
}

/** The warning sink of a store that was opened without one: standard error, through Node. */
export function warnThroughNode(message: string): void {
  process.emitWarning(message, 'StoreWarning');
}
