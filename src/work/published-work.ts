import { randomUUID } from 'node:crypto';
import type { MeasuredRequest, MeasureOptions } from '../agent/benchmark-agent.js';
import { throwIfCancelled } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import { PlatformError } from '../base/errors.js';
import { collect } from '../base/collect.js';
import type { Measurement } from '../measurement/measurement.js';
import { identifySystem, type SystemFacts } from '../measurement/system.js';
import { activeTracing } from '../tracing/tracing.js';
import type { Answers } from './answers.js';
import { OTHER_STORE } from './store-id.js';
import { encodeItem, type WorkRequest } from './work-item.js';
import type { FailedWork, WorkMessage, WorkQueue } from './work-queue.js';

const LOOK_MS = 500;

const STATE_LOOK_MS = 5_000;

/** Items for each agent, waiting or measured: no agent waits for the next check. */
const ITEMS_EACH = 4;

/** After this silence, work that was given up is listed: its announcement may be lost with a connection. */
const SILENT_MS = 60_000;

const UNSERVED_MS = 10 * 60_000;

export interface IndexedWork extends WorkRequest {
  readonly index: number;
}

export interface PublishedWorkOptions {
  readonly queue: WorkQueue;
  readonly system: string;
  readonly facts: SystemFacts;
  readonly answers: Answers;
  /** Name of the lease that the caller holds while it waits. */
  readonly wantedBy: string;
  /** The id of the store. */
  readonly store: string;
  /** Takes this lease again if it is lost. @returns whether it was: agents have dropped work meanwhile */
  readonly regainLease: () => Promise<boolean>;
  readonly clock: Clock;
}

interface Outstanding {
  readonly item: readonly IndexedWork[];
  readonly missing: Set<number>;
}

export class PublishedWork {
  readonly #outstanding = new Map<string, Outstanding>();
  #failed: FailedWork[] = [];
  #serving = 0;
  #isLooking = false;
  /** Whether the outstanding items may be gone from the queue. */
  #isDropped = false;
  #lookedMs = 0;
  #servedMs = 0;
  #answeredMs = 0;

  constructor(private readonly options: PublishedWorkOptions) {}

  /**
   * Publishes items, a few ahead of the `serving` agents.
   *
   * @throws PlatformError `cancelled`, `unavailable` if no agent has served for ten minutes, `storage` if an agent has
   * another store, and as queue and store do
   */
  async *measure(
    items: readonly (readonly IndexedWork[])[],
    serving: number,
    { signal, onProgress }: MeasureOptions,
  ): AsyncGenerator<MeasuredRequest> {
    const { queue, system, answers, clock } = this.options;
    let left = [...items];
    this.#serving = serving;
    this.#lookedMs = this.#servedMs = this.#answeredMs = clock.now();
    const watch = await queue.watchFailed((failed) => this.#failed.push(failed));
    try {
      for (;;) {
        throwIfCancelled(signal);
        for (const item of left.splice(0, this.#room())) await queue.publish(system, this.#buildMessage(item));
        const [first] = this.#outstanding.values();
        if (first === undefined) return;
        const [index = 0] = first.missing;
        const runsTotal = first.item[index]?.request.protocol.runs ?? 0;
        const position = first.item[index]?.index ?? 0;
        onProgress?.({ phase: 'running', runsDone: 0, runsTotal, index: position, together: first.missing.size });
        let isSilent = true;
        for await (const measured of this.#arrived()) {
          isSilent = false;
          yield measured;
        }
        if (!isSilent) continue;
        this.#checkWhoServes();
        if (this.#isDropped) left = [...(await this.#takeBack()), ...left];
        await clock.sleep(LOOK_MS, signal);
      }
    } finally {
      await watch.close();
      for (const item of this.#outstanding.keys()) await answers.delete({ item });
    }
  }

  #room(): number {
    return Math.max(0, ITEMS_EACH * Math.max(1, this.#serving) - this.#outstanding.size);
  }

  #buildMessage(item: readonly IndexedWork[]): WorkMessage {
    const { wantedBy, store } = this.options;
    const id = randomUUID();
    this.#outstanding.set(id, { item, missing: new Set(item.keys()) });
    return {
      id,
      body: encodeItem({ requests: item, wantedBy, store, traceContext: activeTracing()?.headers() ?? {} }),
    };
  }

  /** What is missing of the outstanding items, to be published again. */
  async #takeBack(): Promise<readonly (readonly IndexedWork[])[]> {
    this.#isDropped = false;
    const dropped = [...this.#outstanding];
    this.#outstanding.clear();
    for (const [id] of dropped) await this.options.answers.delete({ item: id });
    return dropped.map(([, { item, missing }]) => item.filter((_, position) => missing.has(position)));
  }

  /** The answers since the last check, and the requests that have failed for good. */
  async *#arrived(): AsyncGenerator<MeasuredRequest> {
    const { answers, clock, wantedBy } = this.options;
    const arrived = await collect(answers.find({ wanted_by: wantedBy }));
    for (const { item, request, measurement, is_stored: isStored } of arrived) {
      const outstanding = this.#outstanding.get(item);
      const position = Number(request);
      const asked = outstanding?.item[position];
      if (outstanding === undefined || asked === undefined || !outstanding.missing.delete(position)) continue;
      this.#answeredMs = clock.now();
      yield { index: asked.index, measurement, ...(isStored && { isStored }) };
    }
    for (const [id, { missing }] of [...this.#outstanding]) {
      if (missing.size > 0) continue;
      this.#outstanding.delete(id);
      await answers.delete({ item: id });
    }
    if (clock.now() - this.#answeredMs > SILENT_MS) await this.#lookForFailed();
    for (const failed of this.#failed.splice(0)) yield* this.#givenUp(failed);
  }

  async #lookForFailed(): Promise<void> {
    this.#answeredMs = this.options.clock.now();
    try {
      for await (const failed of this.options.queue.failed()) this.#failed.push(failed);
    } catch {
      // The broker is unavailable, and is asked again.
    }
  }

  /** Publishes the missing requests of an item that was given up in halves. A request that was alone has failed. */
  async *#givenUp({ message, reason }: FailedWork): AsyncGenerator<MeasuredRequest> {
    const { queue, answers } = this.options;
    const outstanding = this.#outstanding.get(message.id);
    if (outstanding === undefined) return;
    if (reason.startsWith(OTHER_STORE)) throw new PlatformError('storage', `${reason}; then run the command again`);
    this.#outstanding.delete(message.id);
    await answers.delete({ item: message.id });
    const missing = outstanding.item.filter((_, index) => outstanding.missing.has(index));
    const [only] = missing;
    if (only === undefined) return;
    if (missing.length === 1) {
      yield { index: only.index, measurement: this.#buildFailure(only, reason) };
      return;
    }
    const middle = Math.ceil(missing.length / 2);
    const halves = [missing.slice(0, middle), missing.slice(middle)].map((half) => this.#buildMessage(half));
    const replace = queue.replaceFailed((failed) => (failed.message.id === message.id ? halves : undefined));
    if ((await replace.catch(() => 0)) > 0) return;
    // Another process has already retried the work or is reading it now, or the broker is unavailable.
    for (const half of halves) await queue.publish(this.options.system, half);
  }

  #buildFailure({ request }: WorkRequest, reason: string): Measurement {
    const { benchmark, runOptions, protocol, context, occasion, limits } = request;
    return {
      signature: benchmark.signature,
      system: identifySystem(this.options.facts, runOptions),
      protocol,
      ...(context === undefined ? {} : { context }),
      occasion,
      limits,
      outcome: { kind: 'failure', reason: 'crashed', message: `given up by the queue: ${reason}` },
      costMs: 0,
      sessionMs: 0,
      peakMemoryBytes: 0,
      measuredAt: new Date().toISOString(),
    };
  }

  #checkWhoServes(): void {
    const { system, clock } = this.options;
    // Not awaited, so that checks for answers continue: while the broker is unavailable, this takes long.
    if (!this.#isLooking && clock.now() - this.#lookedMs >= STATE_LOOK_MS) void this.#lookWhoServes();
    if (clock.now() - this.#servedMs < UNSERVED_MS) return;
    const waited = `${UNSERVED_MS / 60_000} minutes`;
    throw new PlatformError(
      'unavailable',
      `no agent has taken work from the queue for systems ${system.slice(0, 8)} for ${waited}: ` +
        'start an agent there with "mlmodelscope agent --queue", then run the command again; measurements are kept',
    );
  }

  async #lookWhoServes(): Promise<void> {
    const { queue, system, clock, regainLease } = this.options;
    this.#isLooking = true;
    // While the store is unavailable, no agent sees that the lease is lost.
    if (await regainLease().catch(() => false)) this.#isDropped = true;
    // While the broker is unavailable, no agent is known to serve.
    this.#serving = (await queue.state(system).catch(() => undefined))?.serving ?? 0;
    this.#isLooking = false;
    this.#lookedMs = clock.now();
    if (this.#serving > 0) this.#servedMs = clock.now();
  }
}
