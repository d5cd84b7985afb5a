import { readFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { applied, changesIn } from './mutate.js';

/** The program with one small defect. */
export interface Mutant {
  /** The source file, relative to the project. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** The line of the source and the change in it, as the list of accepted mutants has them. */
  readonly description: string;
  /** The compiled module, relative to the folder of compiled modules. */
  readonly module: string;
  /** Start of the change in that module. */
  readonly offset: number;
  /** The module with the defect. */
  readonly text: string;
}

/** Characters that are shown at each end of a long piece of code. */
const SHOWN = 40;

function shown(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > 2 * SHOWN ? `${line.slice(0, SHOWN)}…${line.slice(-SHOWN)}` : line;
}

/**
 * All mutants of a source file, in the order of their places in the compiled module.
 *
 * @param compiled the folder of compiled modules
 */
export async function mutantsOf(file: string, compiled: string): Promise<readonly Mutant[]> {
  const module = file.replace(/\.ts$/, '.js');
  const text = await readFile(join(compiled, module), 'utf8');
  const map = new SourceMap(JSON.parse(await readFile(join(compiled, `${module}.map`), 'utf8')) as SourceMapPayload);
  const source = (await readFile(file, 'utf8')).split('\n');
  return changesIn(text).map((change) => {
    const { start, end, replacement } = change;
    const before = text.slice(0, start).split('\n');
    const entry = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0);
    const line = 'originalLine' in entry ? entry.originalLine : 0;
    const shownChange = `${shown(text.slice(start, end))} → ${shown(replacement)}`;
    return {
      file,
      line: line + 1,
      description: `${source[line]?.trim()} | ${shownChange.trim()}`,
      module,
      offset: start,
      text: applied(text, change),
    };
  });
}
