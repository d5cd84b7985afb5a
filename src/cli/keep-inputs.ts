import { stat } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { PlatformError } from '../base/errors.js';
import { besideManifest, isManifestPath } from '../manifest/reference.js';
import type { YamlNode } from '../manifest/yaml-tree.js';

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

/** The file of an output option that is given twice would not be written. */
export function refuseSecondOutputs(command: Command): void {
  for (const option of command.options) {
    if (!OUTPUTS.has(option.attributeName()) || option.parseArg !== undefined) continue;
    option.argParser((path: string, before: string | undefined) => {
      if (before === undefined) return path;
      throw new InvalidArgumentError(`it is to write ${before} already; give it once`);
    });
  }
}

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

function textsOf(node: YamlNode): readonly string[] {
  if (node.kind === 'mapping') return [...node.entries.values()].flatMap(({ value }) => textsOf(value));
  if (node.kind === 'sequence') return node.items.flatMap(textsOf);
  return node.kind === 'scalar' ? [node.text] : [];
}

/** Files that a manifest may name, relative to its folder. */
async function filesNamedIn(path: string): Promise<readonly string[]> {
  if (!isManifestPath(path)) return [];
  const { readManifestBytes } = await import('../manifest/read-file.js');
  const { parseDocument } = await import('../manifest/document.js');
  const file = await readManifestBytes(path);
  const document = file.ok ? parseDocument(path, file.bytes) : file;
  return document.ok ? textsOf(document.root).map((text) => besideManifest(path, text)) : [];
}

/** Adds the file at `path`, where there is one, and those that it names. */
async function addInput(path: string, inputs: Map<string, string>): Promise<void> {
  const file = await identify(path);
  if (file === undefined || inputs.has(file)) return;
  inputs.set(file, path);
  for (const named of await filesNamedIn(path)) await addInput(named, inputs);
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
    for (const path of new Set([text, text.replace(/#[^#]*$/, '')])) await addInput(path, inputs);
  }
  for (const [name, value] of outputs) {
    const path = String(value);
    const input = inputs.get((await identify(path)) ?? '');
    if (input === undefined) continue;
    const flag = command.options.find((option) => option.attributeName() === name)?.long ?? name;
    throw new PlatformError('usage', `${flag} ${path} would replace ${input}, which is read; name another file`);
  }
}
