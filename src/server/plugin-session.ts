import { isJson } from '../base/is-json.js';
import { failure, toFailure, type FinalEvent, isFinal, type PlatformEvent } from '../evaluation/event.js';
import type { PlatformEnd, PluginMessage, Registration, Run, RunKey } from '../evaluation/link/link.js';

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
    await this.link.send({ kind: 'run', ...run });
    return ended;
  }

  end(key: RunKey, how: FinalEvent): void {
    const run = this.#runs.get(key.evaluationId);
    if (run?.attempt !== key.attempt) return;
    this.#runs.delete(key.evaluationId);
    this.stop(key);
    run.end(how);
  }

  stop({ evaluationId, attempt }: RunKey): void {
    void this.link.send({ kind: 'stop', evaluationId, attempt });
  }

  /** Handles a message of the plugin; resolves when the plugin may send the next one. */
  async take(message: PluginMessage): Promise<void> {
    if (message.kind !== 'event' && message.kind !== 'unreachable') return;
    const { evaluationId } = message;
    const run = this.#runs.get(evaluationId);
    // An earlier run that was ended may still send messages.
    if (run?.attempt !== message.attempt) return;
    if (message.kind === 'unreachable') {
      run.miss(message.agent, message.reason);
      return;
    }
    const { event } = message;
    if (isFinal(event)) {
      const how = await this.#checked(event);
      // The run may have ended in another way meanwhile.
      if (this.#runs.get(evaluationId) !== run) return;
      this.#runs.delete(evaluationId);
      run.end(how);
      return;
    }
    try {
      await run.keep(event);
    } catch (error) {
      this.end(message, toFailure(error));
    }
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
