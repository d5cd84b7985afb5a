import { execFile } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readTrace } from '../src/foreign-traces/read-trace.js';
import { withTemporaryFolder } from '../test/onnx/temporary-folder.js';

const FIXTURES = join(import.meta.dirname, '../../test/foreign-traces/fixtures');

/** The cost of reading a trace of some size in a process of its own. */
export interface ReadTraceBenchmark {
  readonly format: string;
  readonly megabytes: number;
  readonly seconds: number;
  /** Peak resident memory of the process, Node included. */
  readonly peakRssMb: number;
}

/** How to make a long file of each format: its head, the repeated part, and its tail. */
const PARTS: Readonly<Record<string, (fixture: string) => readonly [head: string, repeated: string, tail: string]>> = {
  // Events between the brackets.
  'onnxruntime.json': (text) => ['[', text.trim().slice(1, -1).trim().replace(/,$/, ''), ']'],
  'jaeger.json': (text) => ['{"data":[', /"data":\[(.*)\],"errors"/s.exec(text)?.[1] ?? '', ']}'],
  'otlp.json': (text) => ['{"resourceSpans":[', /"resourceSpans":\[(.*)\]\}/s.exec(text)?.[1] ?? '', ']}'],
};

async function writeLong(path: string, format: string, megabytes: number): Promise<void> {
  const [head, repeated, tail] = PARTS[format]?.(await readFile(join(FIXTURES, format), 'utf8')) ?? ['', '', ''];
  const block = Buffer.from(Array.from({ length: Math.ceil(4e6 / repeated.length) }, () => repeated).join(',\n'));
  const file = await open(path, 'w');
  try {
    await file.write(head);
    for (let written = 0; written < megabytes * 1e6; written += block.length) {
      if (written > 0) await file.write(',\n');
      await file.write(block);
    }
    await file.write(tail);
  } finally {
    await file.close();
  }
}

/** Writes a trace of that size in each format, reads it in a new process, and removes it. */
export function benchmarkReadTrace(megabytes: number): Promise<readonly ReadTraceBenchmark[]> {
  return withTemporaryFolder(async (folder) => {
    const results: ReadTraceBenchmark[] = [];
    const path = join(folder, 'trace.json');
    for (const format of Object.keys(PARTS)) {
      await writeLong(path, format, megabytes);
      const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), 'read', path]);
      results.push({ format, megabytes, ...(JSON.parse(stdout) as Pick<ReadTraceBenchmark, 'seconds' | 'peakRssMb'>) });
    }
    return results;
  });
}

async function measureHere(path: string): Promise<void> {
  const start = performance.now();
  await readTrace(path);
  const seconds = (performance.now() - start) / 1000;
  // libuv reports kibibytes on every system.
  process.stdout.write(JSON.stringify({ seconds, peakRssMb: (process.resourceUsage().maxRSS * 1024) / 1e6 }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, path] = process.argv.slice(2);
  if (first === 'read' && path !== undefined) await measureHere(path);
  else {
    for (const { format, megabytes, seconds, peakRssMb } of await benchmarkReadTrace(Number(first ?? 5000))) {
      console.log(
        `${format}: ${megabytes} MB in ${seconds.toFixed(1)} s, ${(megabytes / seconds).toFixed(0)} MB/s, ${peakRssMb.toFixed(0)} MB`,
      );
    }
  }
}
