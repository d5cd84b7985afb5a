import { messageOf, PlatformError, type ErrorCode } from '../../base/errors.js';
import type { BenchmarkAgent } from '../benchmark-agent.js';

export interface Machine {
  readonly name: string;
  readonly agent: BenchmarkAgent;
}

/** Errors that the request itself causes, on every machine. */
const OF_REQUEST: readonly ErrorCode[] = ['usage', 'model', 'unsupported', 'cancelled'];

export function isOfMachine(error: unknown): boolean {
  return !(error instanceof PlatformError && OF_REQUEST.includes(error.code));
}

export class Machines {
  readonly #working: Machine[];
  readonly #leftOut: string[] = [];
  #next = 0;

  constructor(
    machines: readonly Machine[],
    private readonly tell: (message: string) => void,
  ) {
    this.#working = [...machines];
  }

  get working(): readonly Machine[] {
    return this.#working;
  }

  leaveOut(machine: Machine, why: string): void {
    const index = this.#working.indexOf(machine);
    if (index < 0) return;
    this.#working.splice(index, 1);
    this.#leftOut.push(`${machine.name}: ${why}`);
    const others = this.#working.length === 0 ? 'no other one is left' : 'the others do its work';
    this.tell(`the agent at ${machine.name} is left out, ${others}: ${why}`);
  }

  none(): PlatformError {
    const reasons = this.#leftOut.map((line) => `  ${line}`).join('\n');
    return new PlatformError('unavailable', `no agent is left; start them again, and submit again:\n${reasons}`);
  }

  /** Asks machines in turn. @throws PlatformError that the request causes, and `unavailable` where none is left */
  async ask<T>(use: (agent: BenchmarkAgent) => Promise<T>): Promise<T> {
    for (;;) {
      const machine = this.#working[this.#next++ % Math.max(1, this.#working.length)];
      if (machine === undefined) throw this.none();
      try {
        return await use(machine.agent);
      } catch (error) {
        if (!isOfMachine(error)) throw error;
        this.leaveOut(machine, messageOf(error));
      }
    }
  }
}
