import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import { keepTrying } from '../base/keep-trying.js';
import { suggestion } from '../base/suggestion.js';
import { leased, registrationIn } from './attach.js';
import { failure, toFailure, type FinalEvent, type PlatformEvent } from '../evaluation/event.js';
import { LostEvaluation } from './event-log.js';
import type { EvaluationJob } from './job.js';
import type { PlatformEnd, PluginSummary } from '../evaluation/link/link.js';
import { toWireDuration } from '../rpc/duration.js';
import { PluginSession } from './plugin-session.js';
import { listAddresses, type RunInputs, prepareRunInputs, type RunSources } from './run-inputs.js';
import { STORE_RETRY, whileUnavailable } from './while-unavailable.js';

/** All in milliseconds. */
export interface DispatchLimits {
  /** A plugin without a message for this long counts as gone. */
  readonly leaseMs: number;
  /** A run without any event for this long fails. A single measurement may take minutes. */
  readonly silenceMs: number;
  /** An evaluation without an agent for this long fails. After a restart, agents are back within seconds. */
  readonly waitForAgentMs: number;
  /** An evaluation whose plugin is started here and does not attach for this long fails. */
  readonly waitForPluginMs: number;
  /** Time between two attempts to find an agent. */
  readonly retryMs: number;
  /** Time limit for a cancelled run to end. */
  readonly stopMs: number;
  /** Time between two checks on the other servers of the same store. */
  readonly watchMs: number;
  /** Time limit for the store to answer a client, who waits a little longer, and for a cancelled run to end. */
  readonly answerMs: number;
}

export const DEFAULT_DISPATCH_LIMITS: DispatchLimits = {
  leaseMs: 15_000,
  silenceMs: 60 * 60_000,
  waitForAgentMs: 10 * 60_000,
  waitForPluginMs: 5 * 60_000,
  retryMs: 2000,
  stopMs: 20_000,
  watchMs: 2000,
  answerMs: 25_000,
};

/** An evaluation fails after this many losses of a plugin or its agents at work: the evaluation may be the cause. */
const MAX_LOSSES = 3;

/** The most plugins that are attached or about to attach, counted by their open streams. */
const MAX_PLUGINS = 256;

/** A waiting evaluation gets an event with its first place in the queue, and with each of the last 10 places. */
const TOLD_PLACES = 10;

export class Dispatcher {
  readonly #sessions = new Set<PluginSession>();
  readonly #waiting = new Set<EvaluationJob>();
  readonly #running = new Map<EvaluationJob, PluginSession>();
  /** They wait for an agent until the next attempt to find one. */
  readonly #withoutAgent = new Set<EvaluationJob>();
  #retry: NodeJS.Timeout | undefined;
  /** They wait for a plugin that is being started; each fails when its timer ends. */
  readonly #withoutPlugin = new Map<EvaluationJob, NodeJS.Timeout>();
  readonly #agents = new Map<EvaluationJob, readonly string[]>();
  #attached = 0;
  #turns = 0;
  readonly #closed = new AbortController();

  constructor(
    private readonly options: RunSources & {
      readonly limits: DispatchLimits;
      /** See {@link PlatformOptions.ownPlugins}. */
      readonly ownPlugins: readonly string[];
    },
  ) {}

  plugins(): readonly PluginSummary[] {
    return [...this.#sessions].map(({ registration, running }) => ({ ...registration, running }));
  }

  working() {
    return [...this.#agents].map(([{ id, record }, agents]) => ({ id, name: record.name, agents }));
  }

  attachedNames(): ReadonlySet<string> {
    return new Set([...this.#sessions].map(({ registration }) => registration.name));
  }

  /** @returns the JSON Schema of its manifests; undefined where it is being started, or versions differ in it */
  requirePlugin(name: string): string | undefined {
    const [schema, ...otherSchemas] = new Set(
      [...this.#sessions].flatMap(({ registration: one }) => (one.name === name ? one.manifestSchemaJson : [])),
    );
    if (otherSchemas.length > 0) return undefined;
    if (schema !== undefined || this.options.ownPlugins.includes(name)) return schema;
    const names = [...this.attachedNames()];
    const others = names.length === 0 ? 'nor is any other' : `attached are ${names.join(', ')}`;
    const meant = suggestion(name, names);
    const start = `start it with \`mlmodelscope plugin ${name} --server ADDRESS\`, or without a server use --plugin PATH`;
    const advice = meant === undefined ? start : `did you mean ${meant}?`;
    throw new PlatformError('unavailable', `the plugin ${name} is not attached to this server, ${others}; ${advice}`);
  }

  /** Runs evaluations while the link lasts. @throws PlatformError as {@link registrationIn}, or `exhausted` */
  async attach(link: PlatformEnd, receivedBytes: () => number = () => 0): Promise<void> {
    if (this.#attached >= MAX_PLUGINS) {
      link.close();
      throw new PlatformError('exhausted', `${MAX_PLUGINS} plugins are attached already; stop one first`);
    }
    this.#attached++;
    const { leaseMs } = this.options.limits;
    const messages = leased(link, leaseMs, receivedBytes);
    try {
      const session = new PluginSession(await registrationIn(messages), link);
      if (this.#isClosed) throw new PlatformError('unavailable', 'the server is shutting down');
      this.#sessions.add(session);
      for (const job of this.#withoutPlugin.keys()) {
        if (job.record.plugin === session.registration.name) this.#stopTimer(job);
      }
      try {
        await link.send({ $case: 'registered', value: { lease: toWireDuration(leaseMs) } });
        this.#dispatch();
        for await (const message of messages) await session.take(message);
      } finally {
        this.#sessions.delete(session);
        session.lose();
      }
    } finally {
      this.#attached--;
      link.close();
    }
  }

  add(job: EvaluationJob): void {
    job.turn = ++this.#turns;
    this.#waiting.add(job);
    this.#dispatch();
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Resolves when it has ended. @throws PlatformError as the store: `unavailable`, then it ends later, or else one that waits goes on */
  async cancel(job: EvaluationJob): Promise<void> {
    job.isCancelled = true;
    const session = this.#running.get(job);
    if (session === undefined) return await this.#cancelWaiting(job);
    session.stop(job.run);
    const stopTimer = setTimeout(() => session.end(job.run, { kind: 'cancelled' }), this.options.limits.stopMs);
    await job.ended;
    clearTimeout(stopTimer);
  }

  async #cancelWaiting(job: EvaluationJob): Promise<void> {
    const isWaiting = this.#waiting.has(job) || this.#withoutAgent.has(job);
    this.#forget(job);
    this.#tellPositions();
    try {
      await job.finish({ kind: 'cancelled' });
    } catch (error) {
      const isUnavailable = error instanceof PlatformError && error.code === 'unavailable';
      if (job.log.hasEnded || isUnavailable) void this.#end(job, { kind: 'cancelled' });
      else if (isWaiting) {
        job.isCancelled = false;
        this.#waiting.add(job);
        this.#dispatch();
      }
      throw error;
    }
  }

  /** Stores how it ended. While the store fails, tries again, as long as this server has it. */
  async #end(job: EvaluationJob, how: FinalEvent): Promise<void> {
    const isPassing = (thrown: unknown): boolean => !(thrown instanceof LostEvaluation);
    // Otherwise another server ends it, or the next one after this.
    await keepTrying(() => job.finish(how), { ...STORE_RETRY, isPassing, signal: this.#whileHere(job) }).catch(
      () => undefined,
    );
  }

  #whileHere(job: EvaluationJob): AbortSignal {
    return AbortSignal.any([this.#closed.signal, job.left.signal]);
  }

  abandon(job: EvaluationJob): void {
    job.left.abort();
    this.#forget(job);
    this.#running.get(job)?.end(job.run, { kind: 'cancelled' });
    this.#tellPositions();
  }

  close(): void {
    this.#closed.abort();
    clearTimeout(this.#retry);
    for (const job of this.#withoutPlugin.keys()) this.#stopTimer(job);
    for (const session of this.#sessions) session.lose();
  }

  #forget(job: EvaluationJob): void {
    this.#waiting.delete(job);
    this.#withoutAgent.delete(job);
    this.#stopTimer(job);
  }

  #stopTimer(job: EvaluationJob): void {
    clearTimeout(this.#withoutPlugin.get(job));
    this.#withoutPlugin.delete(job);
  }

  /** Those that wait for their plugin, first come, first served. */
  #inTurn(): readonly EvaluationJob[] {
    return [...this.#waiting].sort((one, other) => one.turn - other.turn);
  }

  #dispatch(): void {
    if (this.#isClosed) return;
    this.#assign();
    this.#tellPositions();
  }

  /** Adds an event to each evaluation whose plugin runs others, with its place in the queue, or is being started. */
  #tellPositions(): void {
    const attached = this.attachedNames();
    const waiting = new Map<string, number>();
    for (const job of this.#inTurn()) {
      const { plugin } = job.record;
      if (!attached.has(plugin)) {
        if (this.options.ownPlugins.includes(plugin)) this.#waitForPlugin(job);
        continue;
      }
      const position = (waiting.get(plugin) ?? 0) + 1;
      waiting.set(plugin, position);
      if (job.toldPosition !== undefined && position > TOLD_PLACES) continue;
      this.#tell(job, position, `the plugin ${plugin} runs other evaluations; place ${position} in the queue`);
    }
  }

  #waitForPlugin(job: EvaluationJob): void {
    const { plugin } = job.record;
    this.#tell(job, 0, `the plugin ${plugin} is being started`);
    if (this.#withoutPlugin.has(job)) return;
    const { waitForPluginMs } = this.options.limits;
    const fail = (): void => {
      this.#forget(job);
      const problem = `the plugin ${plugin}, which this server starts, did not attach within ${waitForPluginMs / 60_000} minutes`;
      const advice = "the server's log (its standard error) says why; then submit the evaluation under a new id";
      void this.#end(job, failure('unavailable', `${problem}; ${advice}`));
    };
    this.#withoutPlugin.set(job, setTimeout(fail, waitForPluginMs));
  }

  #tell(job: EvaluationJob, position: number, reason: string): void {
    if (job.toldPosition === position) return;
    job.toldPosition = position;
    // If the store fails, the next event fails as well and reports it.
    void job.wait(reason).catch(() => undefined);
  }

  #assign(): void {
    for (const job of this.#inTurn()) {
      const session = [...this.#sessions].find((candidate) => {
        return candidate.registration.name === job.record.plugin && candidate.takeSlot();
      });
      if (session === undefined) continue;
      this.#waiting.delete(job);
      job.toldPosition = undefined;
      this.#running.set(job, session);
      void this.#run(job, session);
    }
  }

  async #run(job: EvaluationJob, session: PluginSession): Promise<void> {
    let next: 'none' | 'queue' | 'agent' = 'none';
    try {
      const { waitForAgentMs } = this.options.limits;
      const prepared = await prepareRunInputs(job, this.options, waitForAgentMs, this.#whileHere(job));
      if (prepared === undefined) next = 'agent';
      else if (this.#givesWay(job) || !(await this.#runOn(job, session, prepared))) next = 'queue';
    } catch (error) {
      await this.#end(job, toFailure(error));
    }
    this.#running.delete(job);
    session.giveSlotBack();
    if (this.#isClosed) return;
    if (next !== 'none' && !job.left.signal.aborted) {
      if (job.isCancelled) void this.#end(job, { kind: 'cancelled' });
      else if (next === 'queue') this.#waiting.add(job);
      else this.#waitForAgent(job);
    }
    this.#dispatch();
  }

  /** Whether earlier ones look for an agent before it: the one that it has found may have come after they looked. */
  #givesWay(job: EvaluationJob): boolean {
    const earlier = [...this.#withoutAgent].filter(({ turn }) => turn < job.turn);
    job.hasGivenWay = !job.hasGivenWay && earlier.length > 0;
    if (!job.hasGivenWay) return false;
    for (const one of earlier) {
      this.#withoutAgent.delete(one);
      this.#waiting.add(one);
    }
    return true;
  }

  #waitForAgent(job: EvaluationJob): void {
    job.hasGivenWay = false;
    this.#withoutAgent.add(job);
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      for (const waiting of this.#withoutAgent) this.#waiting.add(waiting);
      this.#withoutAgent.clear();
      this.#dispatch();
    }, this.options.limits.retryMs);
  }

  /** @returns whether the evaluation has ended */
  async #runOn(job: EvaluationJob, session: PluginSession, prepared: RunInputs): Promise<boolean> {
    if (job.isCancelled) return false;
    const { submission, agents, working } = prepared;
    const [{ framework, frameworkVersion }] = agents;
    const { name, version } = session.registration;
    const here = this.#whileHere(job);
    const run = await whileUnavailable(() => job.start(), here);
    const of = { plugin: name, pluginVersion: version, agent: listAddresses(working), framework, frameworkVersion };
    await whileUnavailable(() => job.log.append({ kind: 'started', ...of, attempt: run.attempt }), here);
    // Meanwhile its plugin could not be stopped.
    if (job.isCancelled) return false;
    const { silenceMs, waitForAgentMs } = this.options.limits;
    const minutes = Math.round(silenceMs / 60_000);
    const message = `the plugin ${name} has sent no event for ${minutes} minutes; check its process, and submit again`;
    const silence = setTimeout(() => session.end(run, failure('timeout', message)), silenceMs);
    let hasMeasured = false;
    const over = new AbortController();
    const during = AbortSignal.any([here, over.signal]);
    // Meanwhile the plugin waits, and keeps what it has measured.
    const keep = (event: PlatformEvent): Promise<void> =>
      whileUnavailable(() => {
        silence.refresh();
        hasMeasured ||= event.kind === 'measuring';
        return job.log.append(event);
      }, during);
    const left = new Map(agents.map(({ address, id }) => [address, id]));
    let hasLost = false;
    const miss = (address: string, reason: string): void => {
      hasLost ||= hasMeasured;
      const id = left.get(address);
      if (id === undefined) return;
      left.delete(address);
      this.options.agents.setAside(id, reason);
    };
    const { traceContext } = job.record;
    const endpoints = agents.map(({ address, tls, accessToken: token }) => ({ address, tls, token }));
    this.#agents.set(job, working);
    const running = session.run({ ...run, submission, agents: endpoints, traceContext }, { keep, miss });
    const how = await running;
    over.abort();
    this.#agents.delete(job);
    clearTimeout(silence);
    if (this.#isClosed || job.left.signal.aborted) return false;
    // Those that are left have another system, or ended before and may be back: of several of a system, the others
    // would do the work of those that are lost.
    const isUnavailable = how?.kind === 'failed' && how.code === 'unavailable';
    const hasNone = left.size === 0 || (hasLost && (working.length === 1 || isUnavailable));
    const lacksAgents = how?.kind === 'failed' && hasNone && !job.isCancelled;
    if (lacksAgents && !hasMeasured && job.lackingMs() <= waitForAgentMs) {
      await whileUnavailable(() => job.takeBack(), here);
      return false;
    }
    if (how !== undefined && !(lacksAgents && hasMeasured)) {
      await this.#end(job, job.isCancelled && how.kind !== 'done' ? { kind: 'cancelled' } : how);
      return true;
    }
    const gone = working.filter((address) => !left.has(address));
    const lost = lacksAgents
      ? `its agent (${listAddresses(gone.length === 0 ? working : gone)})`
      : `the plugin ${name}`;
    job.losses++;
    if (job.losses < MAX_LOSSES) {
      await whileUnavailable(() => job.requeue(`${lost} went away`), here);
      return false;
    }
    const problem = `${lost} went away ${counted(job.losses, 'time')} in the middle of this evaluation`;
    await this.#end(job, failure('unavailable', `${problem}; check its messages, then submit it under a new id`));
    return true;
  }
}
