import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readModel } from '../src/onnx/read/read-model.js';
import { WEIGHT_BYTES, writeSparseModel } from '../test/onnx/sparse-model.js';
import { withTemporaryFolder } from '../test/onnx/temporary-folder.js';

/** The cost of reading a model of just below 2 GiB in a process of its own. */
export interface ReadModelBenchmark {
  readonly weights: 'inline' | 'external';
  readonly weightBytes: number;
  readonly seconds: number;
  /** Peak resident memory of the process, Node included. */
  readonly peakRssMb: number;
}

/** As many weights as fit into 2 GiB, the limit of a protobuf message in other implementations. */
const WEIGHTS = Math.ceil(2 ** 31 / WEIGHT_BYTES) - 1;

/** Makes the two files, reads each in a new process, and removes them. */
export function benchmarkReadModel(): Promise<readonly ReadModelBenchmark[]> {
  return withTemporaryFolder(async (folder) => {
    const results: ReadModelBenchmark[] = [];
    for (const weights of ['inline', 'external'] as const) {
      const path = await writeSparseModel(folder, WEIGHTS, weights);
      const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), path]);
      const { seconds, peakRssMb } = JSON.parse(stdout) as Pick<ReadModelBenchmark, 'seconds' | 'peakRssMb'>;
      results.push({ weights, weightBytes: WEIGHTS * WEIGHT_BYTES, seconds, peakRssMb });
    }
    return results;
  });
}

async function measureHere(path: string): Promise<void> {
  const start = performance.now();
  await readModel(path);
  const seconds = (performance.now() - start) / 1000;
  // libuv reports kibibytes on every system.
  const peakRssMb = (process.resourceUsage().maxRSS * 1024) / 1e6;
  process.stdout.write(JSON.stringify({ seconds, peakRssMb }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path] = process.argv.slice(2);
  if (path !== undefined) await measureHere(path);
  else {
    for (const { weights, weightBytes, seconds, peakRssMb } of await benchmarkReadModel()) {
      const size = (weightBytes / 1e9).toFixed(2);
      console.log(`read ${size} GB of ${weights} weights: ${seconds.toFixed(3)} s, ${peakRssMb.toFixed(0)} MB`);
    }
  }
}
