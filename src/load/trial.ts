import { counted } from '../base/counted.js';
import { xoshiro128pp } from '../base/random.js';
import type { Bound } from './bound.js';
import type { LoadClock } from './clock.js';
import { mostOver } from './percentiles.js';
import type { Arrival } from './schedule.js';

/** Queries by a schedule, whatever the server does; or one query after another of each of some clients. */
export type Plan =
  | { readonly kind: 'open'; readonly arrivals: readonly Arrival[] }
  | {
      readonly kind: 'closed';
      readonly clients: number;
      /** Times from an answer to the client's next query, in turns. */
      readonly thinkMs: readonly number[];
      readonly samples: number;
      readonly queries: number;
      readonly leastMs: number;
    };

/** How queries are divided among several servers. `queue`: a server gets queries when it has none. */
export const DISPATCHES = ['turns', 'random', 'queue'] as const;
export type Dispatch = (typeof DISPATCHES)[number];

export interface TrialOptions {
  readonly plan: Plan;
  readonly bound?: Bound | undefined;
  readonly dispatch: Dispatch;
  /** Of the choice among servers, and of nothing else. */
  readonly seed: number;
  /** Most samples that a server takes at once from the common queue. */
  readonly limit: number;
}

export interface Answer {
  /** When the model's run for the query began; null where the server does not say. */
  readonly startedMs: number | null;
  readonly finishedMs: number;
  /** Samples of the run; null where the server does not say. */
  readonly batch: number | null;
  readonly error?: string | undefined;
  /** Whether the server answers no more. */
  readonly isLast?: boolean | undefined;
}

export interface Target {
  send(samples: number, answered: (answer: Answer) => void): void;
}

/** Milliseconds since the start of the run. */
export interface SentQuery {
  readonly scheduledMs: number;
  readonly sentMs: number;
  readonly samples: number;
}

export interface QueryRecord extends SentQuery {
  readonly startedMs: number | null;
  readonly finishedMs: number;
  readonly batch: number | null;
  readonly server: number;
  readonly error: string | null;
}

export type TrialEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'cut'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'cancelled' };

export interface TrialOutcome {
  readonly end: TrialEnd;
  readonly longestQueue: number;
  /** Queries of the schedule; of a closed loop, those that were sent. */
  readonly planned: number;
  /** Queries that were over the bound, also those without an answer. */
  readonly over: number;
  /** Number of queries in the system, summed over time as they were sent and as answers came. */
  readonly inSystemMs: number;
  /** How far a server's clock moved against the generator's meanwhile; unknown in part of the trials. */
  readonly clockDriftMs?: number | undefined;
  /** Sent, and without an answer at the end. */
  readonly unanswered: readonly SentQuery[];
}

const MAX_QUEUE = 1000;

/** Of a trial. */
export const MAX_QUERIES = 1_000_000;

/** Most queries that an agent has to answer. A client that sends more overloads it on purpose. */
export const MAX_OUTSTANDING = 100_000;

/** After its first failure, a client of a closed loop waits this long, and twice as long after each further one. */
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 250;

interface Sent extends SentQuery {
  isAnswered: boolean;
  isOver: boolean;
}

interface Server {
  readonly index: number;
  readonly target: Target;
  outstanding: number;
}

/**
 * Latency counts from the scheduled time, so that a query that a busy server keeps waiting is as late as for its
 * client.
 */
export class Trial {
  readonly #servers: readonly Server[];
  readonly #choose: () => number;
  #startMs = 0;
  #turn = 0;
  readonly #sent: Sent[] = [];
  #answered = 0;
  #over = 0;
  #longest = 0;
  #inSystemMs = 0;
  #countedMs = 0;
  #oldest = 0;
  /** Queries that the common queue has given to servers, in the order in which they were sent. */
  #handedOut = 0;
  readonly #after = new Map<Sent, (hasFailed: boolean) => void>();
  #isEnded = false;
  readonly #allowedOver: number;
  readonly #queueLimit: number;

  constructor(
    private readonly options: TrialOptions,
    targets: readonly Target[],
    private readonly clock: LoadClock,
    private readonly onRecord: (record: QueryRecord) => void,
    private readonly onEnd: (outcome: TrialOutcome) => void,
  ) {
    this.#servers = targets.map((target, index) => ({ index, target, outstanding: 0 }));
    this.#choose = xoshiro128pp(options.seed);
    const { plan, bound } = options;
    const isOpen = plan.kind === 'open';
    const allowed = isOpen && bound ? mostOver(plan.arrivals.length, bound.share) : -1;
    // With too few queries for a verdict, nothing is lost by the others.
    this.#allowedOver = allowed < 0 ? Infinity : allowed;
    this.#queueLimit = isOpen ? queueLimit(plan.arrivals, bound) : Infinity;
  }

  start(startMs = this.clock.now()): void {
    this.#startMs = startMs;
    const { plan } = this.options;
    if (plan.kind === 'open') this.#sendDue(plan.arrivals, 0);
    else for (let client = 0; client < plan.clients; client++) this.#sendAgain(startMs);
  }

  cancel(): void {
    this.#end({ kind: 'cancelled' });
  }

  fail(reason: string): void {
    this.#end({ kind: 'failed', reason });
  }

  #sendDue(arrivals: readonly Arrival[], first: number): void {
    let next = first;
    for (let due = arrivals[next]; due && !this.#isEnded; due = arrivals[++next]) {
      const atMs = this.#startMs + due.atMs;
      if (this.clock.now() < atMs) {
        this.clock.at(atMs, () => this.#sendDue(arrivals, next));
        return;
      }
      this.#send(due.atMs, due.samples);
    }
  }

  /** @param pauseMs after the client's last query, if it failed */
  #sendAgain(atMs: number, pauseMs = 0): void {
    const { plan } = this.options;
    if (this.#isEnded || plan.kind === 'open') return;
    if (this.#isLongEnough) {
      this.#endIfAllAnswered();
      return;
    }
    const scheduledMs = atMs - this.#startMs;
    this.clock.at(atMs, () => {
      if (this.#isEnded) return;
      const thinkMs = plan.thinkMs[this.#sent.length % plan.thinkMs.length] ?? 0;
      this.#send(scheduledMs, plan.samples, (hasFailed) => {
        const next = hasFailed ? Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * pauseMs)) : 0;
        this.#sendAgain(this.clock.now() + Math.max(thinkMs, next), next);
      });
    });
  }

  get #outstanding(): number {
    return this.#sent.length - this.#answered;
  }

  /** Apart from the moments that servers state, so that one can be checked by the other. */
  #countInSystem(nowMs: number): void {
    this.#inSystemMs += this.#outstanding * (nowMs - this.#countedMs);
    this.#countedMs = nowMs;
  }

  #send(scheduledMs: number, samples: number, then?: (hasFailed: boolean) => void): void {
    const sentMs = this.clock.now() - this.#startMs;
    this.#countInSystem(sentMs);
    this.#inSystemMs += sentMs - scheduledMs;
    const query = { scheduledMs, sentMs, samples, isAnswered: false, isOver: false };
    this.#sent.push(query);
    if (then) this.#after.set(query, then);
    this.#longest = Math.max(this.#longest, this.#outstanding);
    const { dispatch } = this.options;
    const servers = this.#servers;
    if (dispatch === 'queue') this.#handOut();
    else {
      const index = dispatch === 'random' ? this.#choose() : this.#turn++;
      const server = servers[index % servers.length];
      if (server) this.#give(server, query);
    }
    this.#cutOff();
  }

  #handOut(): void {
    for (const server of this.#servers) {
      if (server.outstanding > 0) continue;
      let samples = 0;
      for (let next = this.#sent[this.#handedOut]; next; next = this.#sent[this.#handedOut]) {
        if (samples > 0 && samples + next.samples > this.options.limit) break;
        samples += next.samples;
        this.#handedOut++;
        this.#give(server, next);
      }
    }
  }

  #give(server: Server, query: Sent): void {
    server.outstanding++;
    server.target.send(query.samples, (answer) => this.#take(server, query, answer));
  }

  #take(server: Server, query: Sent, { startedMs, finishedMs, batch, error, isLast }: Answer): void {
    if (this.#isEnded || query.isAnswered) return;
    this.#countInSystem(this.clock.now() - this.#startMs);
    query.isAnswered = true;
    this.#answered++;
    server.outstanding--;
    const finished = finishedMs - this.#startMs;
    const { bound } = this.options;
    const isOver = error !== undefined || (bound !== undefined && finished - query.scheduledMs > bound.ms);
    // An answer may come later than its run ended, and its query was counted as over the bound meanwhile.
    this.#over += Number(isOver) - Number(query.isOver);
    query.isOver = isOver;
    this.onRecord({
      scheduledMs: query.scheduledMs,
      sentMs: query.sentMs,
      startedMs: startedMs === null ? null : startedMs - this.#startMs,
      finishedMs: finished,
      samples: query.samples,
      batch,
      server: server.index,
      error: error ?? null,
    });
    if (isLast === true) {
      this.#end({ kind: 'failed', reason: error ?? 'the server ended' });
      return;
    }
    if (this.options.dispatch === 'queue') this.#handOut();
    const then = this.#after.get(query);
    this.#after.delete(query);
    this.#cutOff();
    then?.(error !== undefined);
    this.#endIfAllAnswered();
  }

  #countLate({ ms }: Bound): void {
    const nowMs = this.clock.now() - this.#startMs;
    for (let query = this.#sent[this.#oldest]; query; query = this.#sent[++this.#oldest]) {
      if (!query.isAnswered && nowMs - query.scheduledMs <= ms) return;
      if (query.isAnswered || query.isOver) continue;
      query.isOver = true;
      this.#over++;
    }
  }

  #cutOff(): void {
    const { plan, bound } = this.options;
    if (this.#isEnded || plan.kind === 'closed') return;
    if (bound) this.#countLate(bound);
    if (this.#outstanding > this.#queueLimit) {
      this.#end({ kind: 'cut', reason: `the queue is longer than ${counted(this.#queueLimit, 'query', 'queries')}` });
    } else if (this.#over > this.#allowedOver) {
      const ofAll = `of ${counted(plan.arrivals.length, 'planned query', 'planned queries')}; the bound allows ${this.#allowedOver}`;
      this.#end({ kind: 'cut', reason: `${counted(this.#over, 'query is', 'queries are')} over the bound ${ofAll}` });
    }
  }

  get #isLongEnough(): boolean {
    const { plan } = this.options;
    const sent = this.#sent.length;
    if (plan.kind === 'open') return sent >= plan.arrivals.length;
    return sent >= MAX_QUERIES || (sent >= plan.queries && this.clock.now() - this.#startMs >= plan.leastMs);
  }

  #endIfAllAnswered(): void {
    if (this.#outstanding === 0 && this.#isLongEnough) this.#end({ kind: 'complete' });
  }

  #end(end: TrialEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { plan } = this.options;
    this.onEnd({
      end,
      longestQueue: this.#longest,
      planned: plan.kind === 'open' ? plan.arrivals.length : this.#sent.length,
      over: this.#over,
      inSystemMs: this.#inSystemMs,
      unanswered: this.#sent
        .filter(({ isAnswered }) => !isAnswered)
        .map(({ scheduledMs, sentMs, samples }) => ({ scheduledMs, sentMs, samples })),
    });
  }
}

/** As many queries wait in four bounds' time at the offered rate. */
function queueLimit(arrivals: readonly Arrival[], bound: Bound | undefined): number {
  const first = arrivals[0];
  const last = arrivals.at(-1);
  const spanMs = (last?.atMs ?? 0) - (first?.atMs ?? 0);
  // Everything at one time is no overload.
  if (spanMs === 0) return Infinity;
  if (bound === undefined) return MAX_QUEUE;
  const ofBound = Math.ceil((4 * bound.ms * arrivals.length) / spanMs);
  return Math.min(MAX_OUTSTANDING - 1, Math.max(MIN_QUEUE_LIMIT, ofBound));
}

/** A queue of a few queries is no sign of overload, however small the bound. */
const MIN_QUEUE_LIMIT = 16;
