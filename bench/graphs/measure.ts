import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type ModelReport, type Report, reportSchema } from '../../plugins/dlbricks/report/report-schema.js';

/** What the command said of a graph: its report, or its reason for none. */
export type Said =
  { readonly kind: 'report'; readonly report: Report } | { readonly kind: 'none'; readonly reason: string };

export function modelOf(said: Said | undefined): ModelReport | undefined {
  return said?.kind === 'report' ? said.report.models[0] : undefined;
}

/** Fewer runs of whole models than by default, so that a hundred graphs take minutes. */
const OPTIONS = ['--threads', '1', '--store', 'memory:', '--runs', '20', '--quiet'];

const dimensionsSchema = z.record(z.string(), z.record(z.string(), z.int().nonnegative()));

/** Sizes of the open dimensions that graphs need, by the graph's name. */
export async function dimensionsOfGraphs(root: string): Promise<z.output<typeof dimensionsSchema>> {
  return dimensionsSchema.parse(JSON.parse(await readFile(join(root, 'test/exporters/dimensions.json'), 'utf8')));
}

/**
 * Runs `dlbricks validate` over one graph, each time with a store of its own, so that no graph is estimated from bricks
 * of another hour. A graph that has a report already is not measured again.
 *
 * @param path of the report
 */
export async function validateGraph(
  root: string,
  graph: string,
  path: string,
  options: readonly string[],
): Promise<Said> {
  let reason = '';
  if (!existsSync(path)) {
    const command = ['dlbricks', 'validate', graph, ...OPTIONS, ...options];
    const child = spawn(process.execPath, [join(root, 'lib/src/bin/main.js'), ...command, '--export-json', path], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (reason += text));
    await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
  }
  if (!existsSync(path)) return { kind: 'none', reason: reason.trim().split('\n').at(-1) ?? 'no reason given' };
  return { kind: 'report', report: reportSchema.parse(JSON.parse(await readFile(path, 'utf8'))) };
}
