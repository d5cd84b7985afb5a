import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { PlatformError } from '../base/errors.js';

/** Options of all commands whose value is a file to write. */
export const OUTPUTS: ReadonlySet<string> = new Set([
  'exportJson',
  'exportCsv',
  'exportMarkdown',
  'exportHtml',
  'exportSvg',
  'exportDot',
  'traceOut',
  'output',
  'log',
  'samples',
  'annotate',
]);

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Map) return [...value.values()].flatMap(textsIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Equal for two names of one file; undefined for what is no file. */
async function identify(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats?.isFile() === true ? `${stats.dev} ${stats.ino}` : undefined;
}

/** A command line that writes to a file that it also reads. @throws PlatformError `usage` */
export async function requireInputsKept(command: Command): Promise<void> {
  const options = Object.entries(command.optsWithGlobals());
  const outputs = options.filter(([name]) => OUTPUTS.has(name));
  if (outputs.length === 0) return;
  const given = options.filter(([name]) => !OUTPUTS.has(name)).map(([, value]) => value as unknown);
  const inputs = new Map<string, string>();
  for (const text of textsIn([command.args, given])) {
    // A report may be followed by the digits of an estimate.
    for (const path of new Set([text, text.replace(/#[^#]*$/, '')])) {
      const file = await identify(path);
      if (file !== undefined) inputs.set(file, path);
    }
  }
  for (const [name, value] of outputs) {
    const path = String(value);
    const input = inputs.get((await identify(path)) ?? '');
    if (input === undefined) continue;
    const flag = command.options.find((option) => option.attributeName() === name)?.long ?? name;
    throw new PlatformError('usage', `${flag} ${path} would replace ${input}, which is read; name another file`);
  }
}
