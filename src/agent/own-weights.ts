import type { Benchmark } from '../measurement/benchmark.js';
import { signatureOf } from '../measurement/weightless.js';
import type { WeightsOfFile } from '../registry/weights-of-file.js';
import type { BenchmarkAgent } from './benchmark-agent.js';

/** undefined where it has none, or where the agent cannot read the file. */
export async function withOwnWeights(
  whole: Benchmark,
  weights: WeightsOfFile | undefined,
  agent: BenchmarkAgent,
): Promise<Benchmark | undefined> {
  const isFilled = whole.inputs.some(({ role }) => role === 'weight');
  if (!isFilled || weights === undefined || agent.offerWeights === undefined) return undefined;
  const signature = signatureOf(Buffer.from(`${whole.signature} ${await weights.identity()}`));
  return { ...whole, signature, weights: agent.offerWeights(weights.path) };
}
