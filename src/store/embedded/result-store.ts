import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { measurementKey, type Measurement } from '../../measurement/measurement.js';
import type { System } from '../../measurement/system.js';
import { readMeasurement, readSystem, toDocuments, type Read } from '../measurement-document.js';
import { warnThroughNode, type ResultStore, type StoreOptions } from '../result-store.js';
import { closedError } from '../storage-error.js';
import type { Entry, Environment } from './environment.js';
import { releaseEnvironment } from './shared-environment.js';

const SIGNATURE = /^[0-9a-f]{64}$/;

/** Found in one turn of the event loop; reading and checking this many takes a few milliseconds. */
const FOUND_PER_TURN = 250;

/** Measurements in an LMDB environment of this machine. `docs/storage.md` shows what is in it. */
export class EmbeddedResultStore implements ResultStore {
  readonly #environment: Environment;
  readonly #warn: (message: string) => void;
  readonly #puts = new Set<Promise<void>>();
  /** Identifiers of systems that are known to be on the disk. */
  readonly #storedSystems = new Set<string>();
  #closed: Promise<void> | undefined;

  constructor(environment: Environment, options: StoreOptions) {
    this.#environment = environment;
    this.#warn = options.onWarning ?? warnThroughNode;
  }

  async putMeasurement(measurement: Measurement): Promise<void> {
    this.#requireOpen();
    const { document, system } = toDocuments(measurement);
    const entries: Entry[] = [];
    if (!this.#storedSystems.has(document.system)) {
      entries.push({ table: 'systems', key: document.system, value: JSON.stringify(system) });
    }
    const { signature, system: fingerprint, protocol } = measurementKey(measurement);
    const key = groupOf(fingerprint, protocol) + signature;
    entries.push({ table: 'measurements', key, value: JSON.stringify(document) });
    const put = this.#environment.write(entries, () => this.#warn(`${WAITING} ${this.#environment.folder}.`));
    this.#puts.add(put);
    try {
      await put;
    } finally {
      this.#puts.delete(put);
    }
    this.#storedSystems.add(document.system);
  }

  async findMeasurements(
    signatures: readonly string[],
    system: string,
    protocol: string,
  ): Promise<ReadonlyMap<string, Measurement>> {
    this.#requireOpen();
    const group = groupOf(system, protocol);
    const systemOf = this.#systemReader();
    const found = new Map<string, Measurement>();
    const problems: string[] = [];
    this.#environment.refresh();
    for (const [index, signature] of signatures.entries()) {
      if (index % FOUND_PER_TURN === FOUND_PER_TURN - 1) {
        await nextTurn();
        this.#requireOpen();
      }
      // Keys come from valid measurements only, and LMDB refuses overlong ones.
      const text = SIGNATURE.test(signature) ? this.#environment.get('measurements', group + signature) : undefined;
      if (text === undefined) continue;
      const read = readMeasurement(text, systemOf);
      if (read.ok && isUnder(read.value, signature, system, protocol)) found.set(signature, read.value);
      else problems.push(`${signature}: ${read.ok ? 'it is another measurement' : read.problem}`);
    }
    if (problems.length > 0) this.#warn(unreadableMessage(this.#environment.folder, problems));
    return found;
  }

  async listSystems(): Promise<readonly System[]> {
    this.#requireOpen();
    this.#environment.refresh();
    const systems = new Map<string, System>();
    const problems: string[] = [];
    for (const { key, value } of this.#environment.entries('systems')) {
      const read = readSystem(value);
      if (read.ok) systems.set(read.value.fingerprint, read.value);
      else problems.push(`system ${key}: ${read.problem}`);
    }
    if (problems.length > 0) this.#warn(unreadableMessage(this.#environment.folder, problems));
    return Promise.resolve([...systems.values()]);
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#puts).then(() => releaseEnvironment(this.#environment));
    return this.#closed;
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw closedError(this.#environment.folder);
  }

  /** Reads each system once: all measurements of a plan share one or two. */
  #systemReader(): (id: string) => Read<System> {
    const known = new Map<string, Read<System>>();
    return (id) => {
      const system = known.get(id) ?? readSystem(this.#environment.get('systems', id));
      known.set(id, system);
      return system;
    };
  }
}

const WAITING =
  'Still waiting to store a measurement: another process is writing to the same store and does not finish. If it is ' +
  'suspended (Ctrl-Z), resume or end it. The store is';

/**
 * What all keys of one system and protocol begin with, so that they lie side by side. Hashed, because LMDB's keys are
 * limited to 1978 bytes.
 */
function groupOf(system: string, protocol: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([system, protocol]))
    .digest('hex');
  return `${hash.slice(0, 32)}.`;
}

function isUnder(measurement: Measurement, signature: string, system: string, protocol: string): boolean {
  const key = measurementKey(measurement);
  return key.signature === signature && key.system === system && key.protocol === protocol;
}

function unreadableMessage(folder: string, problems: readonly string[]): string {
  return (
    `The store ${folder} holds something that cannot be used and counts as not measured; measuring again replaces it. ` +
    `The first of ${problems.length}: ${problems[0]}.`
  );
}
