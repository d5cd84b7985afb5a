import type { Benchmark } from '../measurement/benchmark.js';
import { computeSignature, weightlessBenchmark } from '../measurement/weightless.js';
import type { LoadedModel } from '../registry/load-model.js';
import type { WeightsOfFile } from '../registry/weights-of-file.js';
import type { BenchmarkAgent } from './benchmark-agent.js';

export async function withOwnWeights(
  whole: Benchmark,
  weights: WeightsOfFile | undefined,
  agent: BenchmarkAgent,
): Promise<Benchmark | undefined> {
  const isFilled = whole.inputs.some(({ role }) => role === 'weight');
  if (!isFilled || weights === undefined || agent.offerWeights === undefined) return undefined;
  const signature = computeSignature(Buffer.from(`${whole.signature} ${await weights.identity()}`));
  return { ...whole, signature, weights: agent.offerWeights(weights.path) };
}

/** A whole model as it runs: with the weights of its file where the agent can read it, else with made-up ones. */
export async function wholeBenchmark(
  { model, weights }: Pick<LoadedModel, 'model' | 'weights'>,
  agent: BenchmarkAgent,
): Promise<Benchmark> {
  const filled = weightlessBenchmark(model);
  return (await withOwnWeights(filled, weights, agent)) ?? filled;
}
