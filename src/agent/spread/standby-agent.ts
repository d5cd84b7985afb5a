import { throwIfCancelled } from '../../base/cancellation.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { keepTrying } from '../../base/keep-trying.js';
import { computeClass } from '../../measurement/system.js';
import { differencesBetween, otherSystem } from '../agent-description.js';
import type { BenchmarkAgent, MeasuredRequest, MeasureOptions, MeasureRequest } from '../benchmark-agent.js';
import { measureNumbered } from '../client/measure-numbered.js';
import { isOfMachine, type Machine } from './machines.js';

/** The most agents that end during one call: the call may be the cause. */
const MAX_LOSSES = 3;

export interface Standby {
  readonly name: string;
  readonly connect: () => Promise<BenchmarkAgent>;
}

/** Removes the `standbys` that it tries. @throws PlatformError of the first that does not answer, or `lost` */
async function connectFirst(
  standbys: Standby[],
  fits: (agent: BenchmarkAgent) => boolean,
  lost?: unknown,
): Promise<Machine> {
  let refusal = lost;
  for (let next = standbys.shift(); next !== undefined; next = standbys.shift()) {
    try {
      const agent = await next.connect();
      if (fits(agent)) return { name: next.name, agent };
      await agent.close();
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}

export interface StandbyOptions {
  readonly tell: (message: string) => void;
  /** How long an agent that is gone, and has no other in its place, is waited for. */
  readonly patienceMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** Its connection was lost, or it was started again and refuses the token that it made before. */
function mayAnswerAgain(error: unknown): boolean {
  return error instanceof PlatformError && (error.code === 'unavailable' || error.code === 'unauthenticated');
}

/**
 * When the agent ends or its machine fails, the next one of the same system does what is left, or the same one where it
 * answers again. The others are connected only when they are needed; the first that answers decides the system.
 *
 * @throws PlatformError where none answers
 */
export async function standbyAgent(
  agents: readonly Standby[],
  { tell, patienceMs = 0, signal: waiting }: StandbyOptions,
): Promise<BenchmarkAgent> {
  const left = [...agents];
  let current = await connectFirst(left, () => true);
  const system = computeClass(current.agent.description);
  let replacing: Promise<void> | undefined;

  async function connectNext(lost: Machine, why: unknown): Promise<Machine> {
    try {
      return await connectFirst(left, (agent) => computeClass(agent.description) === system, why);
    } catch {
      const same = mayAnswerAgain(why) ? agents.find(({ name }) => name === lost.name) : undefined;
      const agent = await keepTrying(async () => same?.connect(), {
        firstPauseMs: 500,
        longestPauseMs: 2_000,
        isPassing: () => true,
        limitMs: patienceMs,
        signal: waiting,
      }).catch(() => throwIfCancelled(waiting));
      if (agent === undefined) throw why;
      const differences = differencesBetween(lost.agent.description, agent.description);
      if (differences.length === 0) return { name: lost.name, agent };
      await agent.close();
      throw otherSystem(lost.name, differences);
    }
  }

  async function replace(lost: Machine, why: unknown): Promise<void> {
    const next = await connectNext(lost, why);
    const agent = `the agent at ${next.name}`;
    const does =
      next.name === lost.name
        ? 'answers again, and does the rest of its work'
        : `does the rest of the work of the agent at ${lost.name}`;
    tell(`${agent} ${does}: ${messageOf(why)}`);
    current = next;
    await lost.agent.close().catch(() => undefined);
  }

  /** Calls the current agent, and the next one after each that ends. `use` does what is left. */
  async function* withNext<T>(
    use: (agent: BenchmarkAgent) => AsyncIterable<T>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<T> {
    for (let losses = 1; ; losses++) {
      const used = current;
      try {
        for await (const answer of use(used.agent)) {
          losses = 1;
          yield answer;
        }
        return;
      } catch (error) {
        if (signal?.aborted === true || !isOfMachine(error) || losses >= MAX_LOSSES) throw error;
        // Another call may have replaced it already.
        if (used !== current) continue;
        await (replacing ??= replace(used, error).finally(() => (replacing = undefined)));
      }
    }
  }

  async function ask<T>(use: (agent: BenchmarkAgent) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    async function* once(agent: BenchmarkAgent): AsyncGenerator<T> {
      yield await use(agent);
    }
    for await (const answer of withNext(once, signal)) return answer;
    throw new PlatformError('internal', 'an agent gave no answer');
  }

  async function* measure(
    requests: readonly MeasureRequest[],
    options: MeasureOptions = {},
  ): AsyncGenerator<MeasuredRequest> {
    const missing = new Map(requests.map((request, index) => [index, { request, index }]));
    async function* rest(agent: BenchmarkAgent): AsyncGenerator<MeasuredRequest> {
      for await (const measured of measureNumbered(agent, [...missing.values()], options)) {
        if (missing.delete(measured.index)) yield measured;
      }
    }
    yield* withNext(rest, options.signal);
  }

  return {
    get description() {
      return current.agent.description;
    },
    measure,
    trace: (request, level, options) => ask((agent) => agent.trace(request, level, options), options?.signal),
    inferTypes: (benchmark, signal, options) => ask((agent) => agent.inferTypes(benchmark, signal, options), signal),
    optimize: (benchmark, runOptions, signal, options) =>
      ask((agent) => agent.optimize(benchmark, runOptions, signal, options), signal),
    runOnce: (benchmark, runOptions, options) =>
      ask((agent) => agent.runOnce(benchmark, runOptions, options), options?.signal),
    reaches: (...needed) => current.agent.reaches?.(...needed) ?? [],
    close: () => current.agent.close(),
  };
}
