import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

/** Between two starts of a plugin that ends by itself. */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** A plugin that has run for this long ended for a new reason. */
const HEALTHY_MS = 60_000;

/** A plugin that is not attached for this long hangs. */
const HANGING_MS = 60_000;
const LOOK_MS = 5000;

/** What a plugin that was told to stop has for that. */
const STOP_LIMIT_MS = 8000;

export interface PluginProcessOptions {
  /** Of `mlmodelscope plugin`, with everything that these processes need to know. */
  readonly args: readonly string[];
  readonly isAttached: (name: string) => boolean;
  readonly onWarning: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Ends a process that has not been attached for too long; resolves when it has ended. */
async function watch(name: string, child: ChildProcess, isAttached: (name: string) => boolean): Promise<void> {
  let attachedMs = performance.now();
  const timer = setInterval(() => {
    if (isAttached(name)) attachedMs = performance.now();
    else if (performance.now() - attachedMs > HANGING_MS) child.kill('SIGKILL');
  }, LOOK_MS);
  await once(child, 'close').catch(() => undefined);
  clearInterval(timer);
}

/**
 * Keeps a plugin running in a process of its own, so that whatever it does, the server goes on: a plugin that ends is
 * started again, one that hangs is ended first. It ends with this process, kill -9 included, because it sees the end of
 * its standard input.
 */
export async function keepPluginRunning(name: string, options: PluginProcessOptions): Promise<void> {
  const { args, isAttached, onWarning, signal } = options;
  let pauseMs = SHORTEST_PAUSE_MS;
  while (!signal.aborted) {
    const startedMs = performance.now();
    const child = spawn(process.execPath, [MAIN, 'plugin', name, '--of-parent', ...args], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const stop = (): void => {
      child.kill('SIGTERM');
      const tooLong = globalThis.setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      child.once('close', () => clearTimeout(tooLong));
    };
    signal.addEventListener('abort', stop, { once: true });
    await watch(name, child, isAttached);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    pauseMs = performance.now() - startedMs > HEALTHY_MS ? SHORTEST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    onWarning(`the plugin ${name} ended; it is started again in ${Math.round(pauseMs / 1000)} s`);
    await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
