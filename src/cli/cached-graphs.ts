import { join } from 'node:path';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { cacheOptimizedGraphs } from '../agent/client/optimized-graph-cache.js';
import { defaultCacheDir } from '../zoo/cache-folder.js';

export function cachedGraphs(agent: BenchmarkAgent): BenchmarkAgent {
  return cacheOptimizedGraphs(agent, join(defaultCacheDir(), 'graphs'));
}
