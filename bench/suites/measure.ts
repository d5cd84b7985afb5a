import { join } from 'node:path';
import { runCommand } from '../run-command.js';
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
  await runCommand([...sweep, '--export-json', path], { cache: join(out, 'cache'), stdout: 'inherit' });
  return path;
}
