import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Verdict } from '../targets/target.js';
import type { Case } from './case.js';
import type { Answer } from './child.js';
import { cpuLimitMs, type Limits } from './limits.js';

const CHILD = fileURLToPath(new URL('child.js', import.meta.url));

/** Characters that are kept from the end of a process's output. */
const MAX_OUTPUT = 4000;

/** The outcome of an input: a verdict, or the problem. */
export type Outcome =
  { readonly kind: 'held'; readonly verdict: Verdict } | { readonly kind: 'found'; readonly problem: string };

/** Gives inputs to a child process, and starts a new one after each find. */
export class Prober {
  #child: ChildProcess | undefined;
  #output = '';

  /**
   * @param module that exports the TARGETS
   * @param folder for their files
   */
  constructor(
    readonly module: string,
    readonly folder: string,
    readonly limits: Limits,
  ) {}

  async probe(one: Case): Promise<Outcome> {
    const child = await this.#running();
    const ended = new AbortController();
    const { signal } = ended;
    const exit = once(child, 'exit', { signal }).then((): Answer | 'ended' => 'ended');
    const late = new Promise<'hung'>((resolve) => {
      const timer = setTimeout(() => resolve('hung'), this.limits.hangMs);
      signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const answer = once(child, 'message', { signal }).then(([message]) => message as Answer);
    for (const promise of [exit, answer]) promise.catch(() => undefined);
    child.send(one);
    const first = await Promise.race([answer, exit, late]);
    ended.abort();
    const outcome = this.#outcomeOf(first);
    if (outcome.kind === 'found') await this.close();
    return outcome;
  }

  /** Ends the child process. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  #outcomeOf(answer: Answer | 'ended' | 'hung'): Outcome {
    const found = (problem: string): Outcome => ({ kind: 'found', problem });
    if (answer === 'hung') return found(`not done after ${this.limits.hangMs / 1000} s`);
    if (answer === 'ended') return found(`the process ended:\n${this.#output}`);
    if (answer.kind === 'failed') return found(answer.error);
    const { verdict, byteLength, cpuMs, peakBytes } = answer;
    if (cpuMs > cpuLimitMs(this.limits, byteLength)) {
      return found(`${Math.round(cpuMs)} ms of processor time for ${byteLength} bytes`);
    }
    const mebibytes = Math.round(peakBytes / 2 ** 20);
    if (peakBytes > this.limits.peakBytes) return found(`${mebibytes} MiB of memory for ${byteLength} bytes`);
    return { kind: 'held', verdict };
  }

  async #running(): Promise<ChildProcess> {
    if (this.#child !== undefined) return this.#child;
    const child = fork(CHILD, [this.module, this.folder], {
      execArgv: [`--max-old-space-size=${this.limits.heapBytes / 2 ** 20}`],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#output = '';
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-MAX_OUTPUT);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    await once(child, 'message');
    this.#child = child;
    return child;
  }
}
