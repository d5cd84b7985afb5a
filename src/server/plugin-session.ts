import { isJson } from '../base/is-json.js';
import {
  failure,
  toFailure,
  type FinalEvent,
  isFinal,
  type PlatformEvent,
  type PluginEvent,
} from '../evaluation/event.js';
import type { PlatformEnd, PluginMessage, Registration, Run, RunKey } from '../evaluation/link/link.js';
import { toWireRun } from '../evaluation/link/run-wire.js';
import { fromWirePluginEvent } from '../evaluation/wire/event-wire.js';

interface ActiveRun {
  readonly attempt: number;
  /** Stores an event of the run, except the last one. */
  readonly keep: (event: PlatformEvent) => Promise<void>;
  /** Called with the address of an agent that the plugin cannot reach. */
  readonly miss: (agent: string, reason: string) => void;
  readonly end: (how: FinalEvent | undefined) => void;
}

export class PluginSession {
  readonly #runs = new Map<string, ActiveRun>();
  #taken = 0;
  #isLost = false;

  constructor(
    readonly registration: Registration,
    private readonly link: PlatformEnd,
  ) {}

  get running(): number {
    return this.#taken;
  }

  takeSlot(): boolean {
    if (this.#isLost || this.#taken >= this.registration.slots) return false;
    this.#taken++;
    return true;
  }

  giveSlotBack(): void {
    this.#taken--;
  }

  /** An error of `keep` ends the run. @returns the last event; undefined if disconnected */
  async run(run: Run<Uint8Array>, { keep, miss }: Pick<ActiveRun, 'keep' | 'miss'>): Promise<FinalEvent | undefined> {
    if (this.#isLost) return undefined;
    const ended = new Promise<FinalEvent | undefined>((end) => {
      this.#runs.set(run.evaluationId, { attempt: run.attempt, keep, miss, end });
    });
    await this.link.send(toWireRun(run));
    return ended;
  }

  end(key: RunKey, how: FinalEvent): void {
    const run = this.#runOf(key);
    if (run === undefined) return;
    this.#runs.delete(key.evaluationId);
    this.stop(key);
    run.end(how);
  }

  stop({ evaluationId, attempt }: RunKey): void {
    void this.link.send({ $case: 'stop', value: { evaluationId, attempt } });
  }

  /** Resolves when the plugin may send the next one. @throws PlatformError `usage` for an invalid event */
  async take(message: PluginMessage): Promise<void> {
    if (message.$case === 'unreachable') this.#runOf(message.value)?.miss(message.value.agent, message.value.reason);
    if (message.$case === 'runEvent') await this.#takeEvent(message.value, fromWirePluginEvent(message.value.event));
  }

  async #takeEvent(key: RunKey, event: PluginEvent): Promise<void> {
    const run = this.#runOf(key);
    if (run === undefined) return;
    if (isFinal(event)) {
      const how = await this.#checked(event);
      // The run may have ended in another way meanwhile.
      if (this.#runs.get(key.evaluationId) !== run) return;
      this.#runs.delete(key.evaluationId);
      run.end(how);
      return;
    }
    try {
      await run.keep(event);
    } catch (error) {
      this.end(key, toFailure(error));
    }
  }

  /** Undefined for an earlier run that was ended, which may still send messages. */
  #runOf({ evaluationId, attempt }: RunKey): ActiveRun | undefined {
    const run = this.#runs.get(evaluationId);
    return run?.attempt === attempt ? run : undefined;
  }

  /** Checks the last event of a plugin. A result that is not JSON becomes a failure, so that no reader gets it. */
  async #checked(how: FinalEvent): Promise<FinalEvent> {
    if (how.kind !== 'done' || how.resultJson === undefined || (await isJson(how.resultJson))) return how;
    const { name, version } = this.registration;
    const problem = `the plugin ${name} ${version} sent a result that is no JSON, or is nested too deep`;
    return failure('internal', `${problem}; report it to its author`);
  }

  lose(): void {
    this.#isLost = true;
    for (const { end } of this.#runs.values()) end(undefined);
    this.#runs.clear();
    this.link.close();
  }
}
