import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { MeasureProgress } from '../agent/benchmark-agent.js';
import type { ServingEnd } from '../agent/client/serving-client.js';
import { cancellationOf, throwIfCancelled } from '../base/cancellation.js';
import { PlatformError } from '../base/errors.js';
import type { QueryRecord, TrialOptions, TrialOutcome } from '../load/trial.js';
import { activeTracing } from '../tracing/tracing.js';
import type { FromGenerator, TargetSpec, ToGenerator } from './messages.js';

export interface RanTrial extends TrialOutcome {
  readonly records: readonly QueryRecord[];
}

export type LoadGenerator = Awaited<ReturnType<typeof startGenerator>>;

export interface GeneratorOptions {
  readonly signal: AbortSignal;
  /** Before the first trial. */
  readonly warmupSamples: number;
  readonly onProgress?: ((progress: MeasureProgress) => void) | undefined;
}

/**
 * The servers keep their model open between trials.
 *
 * @throws PlatformError where a server cannot open its model, and `cancelled`
 */
export async function startGenerator(
  targets: readonly TargetSpec[],
  { signal, warmupSamples, onProgress }: GeneratorOptions,
) {
  throwIfCancelled(signal);
  const headers = activeTracing()?.headers() ?? {};
  const traced = targets.map((target) => {
    const { reach } = target;
    return { ...target, reach: { ...reach, options: { ...reach.options, headers } } };
  });
  const child = fork(fileURLToPath(new URL('./process.js', import.meta.url)), {
    serialization: 'advanced',
    // Helpers of the collector are ordinary threads, for which the process would wait on a busy machine.
    execArgv: ['--single-threaded-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  try {
    signal.addEventListener('abort', kill, { once: true });
    await ask(child, { kind: 'open', targets: traced, warmupSamples }, (message) => {
      if (message.kind === 'progress') onProgress?.(message.progress);
      return message.kind === 'open' ? message : undefined;
    });
  } catch (error) {
    kill();
    throw signal.aborted ? cancellationOf(signal) : error;
  } finally {
    signal.removeEventListener('abort', kill);
  }
  return {
    /** An interrupted trial ends as `cancelled`. @throws PlatformError where the generator's process ends */
    async trial(options: TrialOptions): Promise<RanTrial> {
      const records: QueryRecord[] = [];
      const cancel = (): void => void child.send({ kind: 'cancel' } satisfies ToGenerator, () => undefined);
      signal.addEventListener('abort', cancel, { once: true });
      try {
        if (signal.aborted) queueMicrotask(cancel);
        const { outcome } = await ask(child, { kind: 'trial', options }, (message) => {
          if (message.kind === 'records') for (const record of message.records) records.push(record);
          return message.kind === 'ended' ? message : undefined;
        });
        return { ...outcome, records };
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    /** Ends the servers and the process. @throws PlatformError where a server failed */
    async close(): Promise<readonly ServingEnd[]> {
      try {
        const { ends } = await ask(child, { kind: 'close' }, (message) => {
          return message.kind === 'closed' ? message : undefined;
        });
        return ends;
      } finally {
        kill();
      }
    },
    kill,
  };
}

function ask<T>(
  child: ChildProcess,
  message: ToGenerator,
  answerIn: (message: FromGenerator) => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
    };
    const onMessage = (received: FromGenerator): void => {
      if (received.kind === 'error') {
        stop();
        reject(new PlatformError(received.code, received.message));
        return;
      }
      const answer = answerIn(received);
      if (answer === undefined) return;
      stop();
      resolve(answer);
    };
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      stop();
      const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
      reject(new PlatformError('unavailable', `the process that sends queries ended ${how}; run the command again`));
    };
    child.on('message', onMessage);
    child.once('exit', onExit);
    child.send(message, () => undefined);
  });
}
