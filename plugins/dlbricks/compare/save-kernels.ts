import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Both,
  formatMs,
  makeFolder,
  messageOf,
  oneLine,
  PlatformError,
  runnableFile,
  shellQuoted,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { ComparedBrick, ComparisonDocument } from './comparison-schema.js';
import type { PreparedSide } from './compare-rounds.js';

const MAX_FILES = 100;

const DIGITS = 12;

/** With the graph left as it is: the kernels are optimized already. */
function asItIs(side: string): string {
  const others = side.split(',').filter((part) => !part.trim().startsWith('optimization_level='));
  return [...others, 'optimization_level=disabled'].join(',');
}

function readme(document: ComparisonDocument, saved: readonly { file: string; kernel: ComparedBrick }[]): string {
  const rows = saved.map(({ file, kernel }) => {
    const { operators, before_ms: before, after_ms: after, ratio } = kernel;
    const change = `${((ratio ?? 1) * 100 - 100).toFixed(1)} %`;
    return `| ${file} | ${oneLine(operatorsLabel(operators))} | ${formatMs(before)} | ${formatMs(after)} | ${change} |`;
  });
  const { before, after } = document;
  const sides = [before, after].map((side) => shellQuoted(asItIs(side))).join(' ');
  return [
    `# Kernels that differ: ${oneLine(before)} (before) and ${oneLine(after)} (after)`,
    '',
    'Each file is one kernel of an optimized graph, with made-up weights and anonymous names.',
    '',
    '| file | operators | before (ms) | after (ms) | change |',
    '|---|---|--:|--:|--:|',
    ...rows,
    '',
    'Each command measures one file on both sides, in this folder:',
    '',
    ...saved.map(({ file }) => `    mlmodelscope compare ${sides} --whole -- ${shellQuoted(file)}`),
    '',
  ].join('\n');
}

/** @returns the number of files. @throws PlatformError `storage` where the folder cannot be written */
export async function saveKernels(
  folder: string,
  document: ComparisonDocument,
  [{ models }]: Both<PreparedSide>,
): Promise<number> {
  const benchmarks = new Map(models.flatMap(({ bricks }) => bricks.map((brick) => [brick.signature, brick] as const)));
  const different = document.bricks.filter(({ verdict, after_operators: others }) => {
    return others === null && (verdict === 'faster' || verdict === 'slower');
  });
  const saved: { file: string; kernel: ComparedBrick }[] = [];
  try {
    makeFolder(folder);
    for (const kernel of different.slice(0, MAX_FILES)) {
      const brick = benchmarks.get(kernel.signature);
      const bytes = brick && runnableFile(brick);
      if (bytes === undefined) continue;
      const file = `${kernel.signature.slice(0, DIGITS)}.onnx`;
      await writeFile(join(folder, file), bytes);
      saved.push({ file, kernel });
    }
    await writeFile(join(folder, 'README.md'), readme(document, saved));
  } catch (cause) {
    const problem = `${folder}: the kernels cannot be written: ${messageOf(cause)}`;
    throw new PlatformError('storage', `${problem}; make room or name another folder`, { cause });
  }
  return saved.length;
}
