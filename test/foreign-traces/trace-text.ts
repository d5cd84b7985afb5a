import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTrace, type ReadTraceOptions } from '../../src/foreign-traces/read-trace.js';
import type { TracedModel } from '../../src/foreign-traces/collect-models.js';
import { withTemporaryFolder } from '../onnx/temporary-folder.js';

export function readText(text: string, options: ReadTraceOptions = {}): Promise<readonly TracedModel[]> {
  return withTemporaryFolder(async (folder) => {
    const path = join(folder, 'trace');
    await writeFile(path, text);
    return readTrace(path, options);
  });
}
