import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { EXIT_PARTIAL } from '../src/base/exit-codes.js';

/**
 * Runs `mlmodelscope ARGS`, with its caches in a folder.
 *
 * @param stdout where its tables go @throws Error where it ends without a result
 */
export async function runCommand(
  args: readonly string[],
  { cache, stdout }: { readonly cache: string; readonly stdout: 'inherit' | 'ignore' },
): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../lib/src/bin/main.js'), ...args], {
    stdio: ['inherit', stdout, 'inherit'],
    env: { ...process.env, MLMODELSCOPE_CACHE: cache },
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0 || code === EXIT_PARTIAL) return;
  const command = args.slice(0, 3).join(' ');
  throw new Error(`${command} … ended with ${code ?? 'a signal'}; the same command continues from there`);
}
