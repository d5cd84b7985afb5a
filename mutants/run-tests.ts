import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SEVERAL = fileURLToPath(new URL('several.js', import.meta.url));

export interface TestRun {
  readonly outcome: 'passed' | 'failed' | 'stuck';
  readonly durationMs: number;
}

const running = new Set<ChildProcess>();

/** Kills a process and all processes that it started. */
function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

process.once('exit', () => running.forEach(end));

/**
 * Runs compiled test files in one process, and ends it at the first failure.
 *
 * @param silenceMs the longest time without a result; after it, the tests are stuck
 * @param environment variables besides those of this process
 */
export function runTests(
  paths: readonly string[],
  silenceMs: number,
  environment: NodeJS.ProcessEnv,
): Promise<TestRun> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--test-reporter=tap', SEVERAL, ...paths], {
      // Node.js sets NODE_TEST_CONTEXT in tests, so that the results of inner tests go to the outer test. These go
      // here.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...environment },
      stdio: ['ignore', 'pipe', 'ignore'],
      // The child leads a process group, which includes the processes that it starts.
      detached: true,
    });
    running.add(child);
    let outcome: TestRun['outcome'] | undefined;
    const endAs = (why: TestRun['outcome']): void => {
      outcome ??= why;
      end(child);
    };
    const silence = setTimeout(() => endAs('stuck'), silenceMs);
    let begun = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      silence.refresh();
      const lines = (begun + text).split('\n');
      begun = lines.pop() ?? '';
      if (lines.some((line) => /^\s*not ok /.test(line))) endAs('failed');
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(silence);
      running.delete(child);
      end(child);
      resolve({ outcome: outcome ?? (code === 0 ? 'passed' : 'failed'), durationMs: performance.now() - start });
    });
  });
}
