import { collect } from '../../../src/base/collect.js';
import type {
  BenchmarkAgent,
  MeasuredRequest,
  MeasureOptions,
  MeasureRequest,
} from '../../../src/agent/benchmark-agent.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import type { Measurement } from '../../../src/measurement/measurement.js';
import type { Limits, Protocol } from '../../../src/measurement/protocol.js';
import type { RunOptions } from '../../../src/measurement/system.js';

/** Protocol, occasion and limits as one object, so that a test names only what it changes. */
export interface Setup extends Protocol, Limits {
  readonly occasion: number;
}

export function setupOf(setup: Setup): Pick<MeasureRequest, 'protocol' | 'occasion' | 'limits'> {
  const { occasion, timeLimitMs, memoryLimitBytes, ...protocol } = setup;
  return { protocol, occasion, limits: { timeLimitMs, memoryLimitBytes } };
}

/** Everything that an agent yields for some requests. */
export function measureAll(
  agent: BenchmarkAgent,
  requests: readonly MeasureRequest[],
  options?: MeasureOptions,
): Promise<readonly MeasuredRequest[]> {
  return collect(agent.measure(requests, options));
}

/** The measurement of one benchmark in a session of its own. */
export async function measureOne(
  agent: BenchmarkAgent,
  benchmark: Benchmark,
  runOptions: RunOptions,
  setup: Setup,
  options?: MeasureOptions,
): Promise<Measurement> {
  const [measured] = await measureAll(agent, [{ benchmark, runOptions, ...setupOf(setup) }], options);
  if (measured === undefined) throw new Error('nothing was measured');
  return measured.measurement;
}
