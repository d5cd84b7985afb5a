import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OptimizeResponse } from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import type { Benchmark } from '../../measurement/benchmark.js';
import { identifySystem, type System } from '../../measurement/system.js';
import { writeFileAtomically } from '../../base/atomic-file.js';
import { makeFolder, OWNER_ONLY } from '../../base/make-folder.js';
import { sha256Of } from '../../base/sha256.js';
import type { BenchmarkAgent, OptimizedGraph } from '../benchmark-agent.js';
import { fromWireOptimized, toWireOptimized } from '../wire/benchmark-wire.js';

/** Part of every key. Increase it when agents make different graphs from the same input. */
const CACHE_VERSION = 4;

function fileName({ fingerprint }: System, { signature }: Benchmark): string {
  const key = sha256Of(`${CACHE_VERSION} ${fingerprint} ${signature}`);
  return `${key}.binpb`;
}

async function read(file: string): Promise<OptimizedGraph | undefined> {
  try {
    return fromWireOptimized(OptimizeResponse.decode(new Uint8Array(await readFile(file))));
  } catch {
    return undefined;
  }
}

async function keep(file: string, bytes: Uint8Array): Promise<void> {
  makeFolder(dirname(file), OWNER_ONLY);
  await writeFileAtomically(file, bytes);
}

/** Keeps optimized graphs in a folder. Where it cannot be written to, graphs are optimized each time. */
export function cacheOptimizedGraphs(agent: BenchmarkAgent, folder: string): BenchmarkAgent {
  return {
    ...agent,
    async optimize(benchmark, runOptions, signal, options) {
      // Values of a run with a model's own weights are not kept.
      if (options?.steeringValues === true) return agent.optimize(benchmark, runOptions, signal, options);
      const file = join(folder, fileName(identifySystem(agent.description, runOptions), benchmark));
      const known = await read(file);
      if (known !== undefined) return known;
      const optimized = await agent.optimize(benchmark, runOptions, signal);
      const bytes = OptimizeResponse.encode(toWireOptimized(optimized)).finish();
      await keep(file, bytes).catch(() => undefined);
      return optimized;
    },
  };
}
