import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTrace, type ReadTraceOptions } from '../../src/foreign-traces/read-trace.js';
import type { TracedModel } from '../../src/foreign-traces/collect-models.js';

export async function readText(text: string, options: ReadTraceOptions = {}): Promise<readonly TracedModel[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trace-'));
  try {
    const path = join(folder, 'trace');
    await writeFile(path, text);
    return await readTrace(path, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}
