import { PlatformError } from '../../src/base/errors.js';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import type { Conditions } from '../../src/measurement/conditions.js';
import type { Outcome } from '../../src/measurement/measurement.js';
import { identifySystem, type RunOptions } from '../../src/measurement/system.js';
import { ABILITIES, type Ability, type AgentDescription } from '../../src/agent/agent-description.js';
import type { BenchmarkAgent, OptimizedGraph } from '../../src/agent/benchmark-agent.js';
import type { InferredValue } from '../../src/onnx/layers/layer-graph.js';
import { throwIfCancelled } from '../../src/base/cancellation.js';
import type { Failure } from '../../src/agent/failure.js';

export interface FakeAgentOptions {
  readonly latencyOf: (benchmark: Benchmark) => number | Failure;
  /** Inferred values of a benchmark's graph; without it, inferring fails. */
  readonly inferredValuesOf?: (benchmark: Benchmark) => ReadonlyMap<string, InferredValue>;
  readonly optimizedOf?: (benchmark: Benchmark, runOptions: RunOptions) => OptimizedGraph;
  readonly measuresTogether?: boolean;
  readonly host?: string;
  /** Part of the system's fingerprint, so that two fakes can be two systems. */
  readonly processor?: string;
  readonly measuredAt?: string;
  readonly conditionsOf?: (benchmark: Benchmark) => Conditions;
}

export interface FakeAgent extends BenchmarkAgent {
  /** Signatures in the order in which they were measured, once for each time. */
  readonly measured: readonly string[];
}

const SESSION_MS = 10;

async function answer<T>(signal: AbortSignal | undefined, find: () => T | undefined): Promise<T> {
  await Promise.resolve();
  throwIfCancelled(signal);
  const found = find();
  if (found === undefined) throw new PlatformError('unsupported', 'the fake agent has no runtime');
  return found;
}

/** An agent for tests: it measures nothing, gives the same answers every time, and records its requests. */
export function createFakeAgent(options: FakeAgentOptions): FakeAgent {
  const {
    latencyOf,
    inferredValuesOf,
    optimizedOf,
    measuresTogether = true,
    host = 'fake-host',
    processor = 'fake processor',
    measuredAt = '2026-01-01T00:00:00Z',
    conditionsOf,
  } = options;
  const measured: string[] = [];
  const isAble: Readonly<Record<Ability, boolean>> = {
    infer_types: inferredValuesOf !== undefined,
    optimize: optimizedOf !== undefined,
    measure_bricks: measuresTogether,
    trace: false,
    settings: true,
    load: false,
    run_once: false,
  };
  const description: AgentDescription = {
    processor,
    architecture: 'x64',
    operatingSystem: 'Linux 6.1',
    cores: 4,
    memoryBytes: 16 * 2 ** 30,
    cacheBytes: 32 * 2 ** 20,
    processorFeatures: ['avx2', 'fma'],
    framework: 'fake',
    frameworkVersion: '1.0.0',
    host,
    providers: [],
    traceLevels: [],
    abilities: ABILITIES.filter((ability) => isAble[ability]),
  };

  return {
    measured,

    description,

    async *measure(requests, { signal, onProgress } = {}) {
      for (const [index, { benchmark, runOptions, protocol, occasion, limits, context }] of requests.entries()) {
        throwIfCancelled(signal);
        const { warmupRuns, runs, minRuns, timeBudgetMs } = protocol;
        onProgress?.({ phase: 'preparing', runsDone: 0, runsTotal: warmupRuns + runs, index, together: 1 });
        // Answers asynchronously, as a real agent does, so that other work can run and cancel the call.
        await new Promise((resolve) => setImmediate(resolve));
        throwIfCancelled(signal);
        const latency = latencyOf(benchmark);
        let outcome: Outcome;
        if (typeof latency === 'number') {
          const affordable = Math.max(minRuns, Math.ceil(timeBudgetMs / latency));
          const runMs = new Array<number>(Math.min(runs, affordable)).fill(latency);
          outcome = { kind: 'samples', runMs, warmupMs: new Array<number>(warmupRuns).fill(latency) };
          const runsDone = warmupRuns + runMs.length;
          onProgress?.({ phase: 'running', runsDone, runsTotal: runsDone, index, together: 1 });
        } else {
          outcome = { kind: 'failure', ...latency };
        }
        measured.push(benchmark.signature);
        const spentMs = outcome.kind === 'samples' ? [...outcome.warmupMs, ...outcome.runMs] : [];
        const measurement = {
          signature: benchmark.signature,
          system: identifySystem(description, runOptions),
          protocol,
          ...(context === undefined ? {} : { context }),
          occasion,
          limits,
          outcome,
          costMs: spentMs.reduce((sum, ms) => sum + ms, SESSION_MS),
          sessionMs: SESSION_MS,
          peakMemoryBytes: 100 * 2 ** 20,
          ...(conditionsOf === undefined ? {} : { conditions: conditionsOf(benchmark) }),
          measuredAt,
        };
        yield { index, measurement };
      }
    },

    trace: (_request, _level, { signal } = {}) => answer<never>(signal, () => undefined),

    inferTypes: (benchmark, signal) => answer(signal, () => inferredValuesOf?.(benchmark)),

    optimize: (benchmark, runOptions, signal) => answer(signal, () => optimizedOf?.(benchmark, runOptions)),

    runOnce: (_benchmark, _runOptions, { signal } = {}) => answer<never>(signal, () => undefined),

    close: () => Promise.resolve(),
  };
}
