import type { BenchmarkAgent, OptimizedGraph } from '../../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';

/** Milliseconds of each kernel, and of a call. */
const KERNEL_MS: Readonly<Record<string, number>> = { Relu: 1, Neg: 2, Abs: 4, Exp: 8 };
export const CALL_MS = 1 / 16;

/** Sum over its kernels, and the call; the Shape and Concat nodes around copies take nothing. */
function latencyOf({ model }: Benchmark): number {
  const { nodes } = parseModel(model, 'test').graph;
  return nodes.reduce((sum, { opType }) => sum + (KERNEL_MS[opType] ?? 0), CALL_MS);
}

/** One measurement that an agent was asked for. */
export interface Asked {
  readonly signature: string;
  readonly occasion: number;
}

export interface DriftingAgent extends BenchmarkAgent {
  readonly asked: readonly Asked[];
}

/**
 * A fake whose runtime changes nothing in a graph, and whose processes differ: on each occasion everything but the call takes
 * `factors[occasion - 1]` times as long. A measurement together with others contains no call.
 */
export function driftingAgent(...factors: readonly number[]): DriftingAgent {
  const optimizedOf = (benchmark: Benchmark): OptimizedGraph => ({ benchmark, values: new Map(), costMs: 0 });
  const agent = createFakeAgent({ latencyOf, optimizedOf });
  const asked: Asked[] = [];
  return {
    ...agent,
    asked,
    async *measure(requests, options) {
      for await (const { index, measurement } of agent.measure(requests, options)) {
        const { signature, occasion, context, outcome } = measurement;
        asked.push({ signature, occasion });
        if (outcome.kind === 'failure') {
          yield { index, measurement };
          continue;
        }
        const factor = factors[occasion - 1] ?? 1;
        const callMs = context === undefined ? CALL_MS : 0;
        const runMs = outcome.runMs.map((ms) => callMs + (ms - CALL_MS) * factor);
        yield { index, measurement: { ...measurement, outcome: { ...outcome, runMs } } };
      }
    },
  };
}
