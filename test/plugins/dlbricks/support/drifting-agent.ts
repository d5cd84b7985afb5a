import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../../../src/agent/fake-agent.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import { parseModel } from '../../../../src/onnx/read-model.js';
import { measureOne } from '../../../agent/support/measure-one.js';

/** Milliseconds of each kernel; what a call costs beside them. */
const KERNEL_MS: Readonly<Record<string, number>> = { Relu: 1, Neg: 2, Abs: 4, Exp: 8 };
export const CALL_MS = 0.5;

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
 * `factors[occasion - 1]` times as long.
 */
export function driftingAgent(...factors: readonly number[]): DriftingAgent {
  const agent = createFakeAgent({ latencyOf, optimizedOf: (benchmark) => ({ benchmark, values: new Map() }) });
  const asked: Asked[] = [];
  return {
    ...agent,
    asked,
    async measure(benchmark, runOptions, protocol, options) {
      const measurement = await measureOne(agent, benchmark, runOptions, protocol, options);
      asked.push({ signature: benchmark.signature, occasion: protocol.occasion });
      const { outcome } = measurement;
      if (outcome.kind === 'failure') return measurement;
      const factor = factors[protocol.occasion - 1] ?? 1;
      const runMs = outcome.runMs.map((ms) => CALL_MS + (ms - CALL_MS) * factor);
      return { ...measurement, outcome: { ...outcome, runMs } };
    },
  };
}
