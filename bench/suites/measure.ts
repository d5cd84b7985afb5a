import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { EXIT_PARTIAL } from '../../src/base/exit-codes.js';
import type { ModelSuite } from './suite.js';

export interface MeasuringFolders {
  readonly root: string;
  /** Measurements, optimized graphs and exports; remove it to measure everything again. */
  readonly out: string;
  readonly docs: string;
}

/**
 * Runs `dlbricks sweep` over both cuts of a suite. Measurements in the store are not repeated, so that an interrupted
 * sweep continues.
 *
 * @returns the path of the export @throws Error where the command ends without one
 */
export async function sweepSuite({ name }: ModelSuite, { root, out, docs }: MeasuringFolders): Promise<string> {
  const path = join(out, `${name}.json`);
  const options = ['--cut', 'layer,kernel', '--store', join(out, 'store'), '--plots', join(docs, name)];
  const sweep = ['dlbricks', 'sweep', join(root, 'manifests', 'evaluations', `${name}.yml`), ...options];
  const child = spawn(process.execPath, [join(root, 'dist/src/cli/main.js'), ...sweep, '--export-json', path], {
    stdio: 'inherit',
    env: { ...process.env, MLMODELSCOPE_CACHE: join(out, 'cache') },
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0 || code === EXIT_PARTIAL) return path;
  throw new Error(`the sweep of ${name} ended with ${code ?? 'a signal'}; the same command continues from there`);
}
