import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { messageOf, PlatformError } from '../base/errors.js';
import { keepGoing } from '../base/keep-trying.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

/** Pauses before a plugin that ended by itself is started again. */
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

/** After a plugin has run for this long, its end counts as the first failure: the pauses begin short again. */
const HEALTHY_MS = 60_000;

/** A plugin that is not attached for this long counts as hanging, and is killed. */
const HANGING_MS = 60_000;
const LOOK_MS = 5000;

const STOP_LIMIT_MS = 8000;

export interface PluginProcessOptions {
  /** The command line of `mlmodelscope plugin`, with the options that these processes need. */
  readonly args: readonly string[];
  readonly isAttached: (name: string) => boolean;
  readonly onWarning: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Kills the process where its plugin is not attached for too long; resolves when the process has ended. */
async function watch(name: string, child: ChildProcess, isAttached: (name: string) => boolean): Promise<void> {
  let attachedMs = performance.now();
  const timer = setInterval(() => {
    if (isAttached(name)) attachedMs = performance.now();
    else if (performance.now() - attachedMs > HANGING_MS) child.kill('SIGKILL');
  }, LOOK_MS);
  await once(child, 'close').catch(() => undefined);
  clearInterval(timer);
}

/** Runs a plugin in a process of its own until the process ends; stops the process when the signal aborts. */
async function runPluginProcess(name: string, { args, isAttached, signal }: PluginProcessOptions): Promise<void> {
  const child = spawn(process.execPath, [MAIN, 'plugin', name, '--of-parent', ...args], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const stop = (): void => {
    child.kill('SIGTERM');
    const tooLong = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    child.once('close', () => clearTimeout(tooLong));
  };
  signal.addEventListener('abort', stop, { once: true });
  await watch(name, child, isAttached);
  signal.removeEventListener('abort', stop);
}

/**
 * Keeps a plugin running in a process of its own, so that it cannot harm the server; one that ends or hangs is started
 * again. The process ends with this one, also after kill -9, because its standard input then ends.
 */
export async function keepPluginRunning(name: string, options: PluginProcessOptions): Promise<void> {
  const { onWarning, signal } = options;
  const run = async (answers: () => void): Promise<void> => {
    const startedMs = performance.now();
    await runPluginProcess(name, options);
    if (signal.aborted) return;
    if (performance.now() - startedMs > HEALTHY_MS) answers();
    throw new PlatformError('unavailable', `the plugin ${name} ended`);
  };
  await keepGoing(run, {
    firstPauseMs: MIN_PAUSE_MS,
    longestPauseMs: MAX_PAUSE_MS,
    isPassing: (thrown) => thrown instanceof PlatformError,
    onFailure: ({ thrown, pauseMs }) =>
      onWarning(`${messageOf(thrown)}; it is started again in ${Math.round(pauseMs / 1000)} s`),
    signal,
  });
}
