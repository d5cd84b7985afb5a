import { symbolicBenchmark } from '../../src/measurement/symbolic-benchmark.js';
import { buildRunOptions } from '../../src/measurement/system.js';
import { weightlessBenchmark } from '../../src/measurement/weightless.js';
import { materialize } from '../../src/predictor/materialize.js';
import { openFilledModel } from '../../src/predictor/open-filled-model.js';
import type { OpenModel, Predictor } from '../../src/predictor/predictor.js';
import { elementsOf, type TensorValue } from '../../src/predictor/tensor-value.js';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import type { LoadedModel } from '../../src/registry/load-model.js';

/** Generated tokens, and their latencies. */
export interface Generated {
  readonly tokens: readonly number[];
  /** From the prompt to the first token; ms. */
  readonly firstTokenMs: number;
  /** Each further token; ms. */
  readonly furtherTokensMs: readonly number[];
}

/** The environment of a decoder: its predictor, threads and folder. */
export interface DecoderEnvironment {
  readonly predictor: Predictor;
  readonly threads: number;
  readonly temporaryFolder: string;
}

type Values = ReadonlyMap<string, TensorValue>;

function integers(dims: readonly number[], valueAt: (index: number) => number): TensorValue {
  const count = dims.reduce((product, dim) => product * dim, 1);
  const values = BigInt64Array.from({ length: count }, (_, index) => BigInt(valueAt(index)));
  return { elementType: 'int64', dims, bytes: new Uint8Array(values.buffer) };
}

/** The inputs for tokens that come after `before` others. */
function feedsOf(tokens: readonly number[], before: number): Map<string, TensorValue> {
  return new Map([
    ['input_ids', integers([1, tokens.length], (index) => tokens[index] ?? 0)],
    ['attention_mask', integers([1, before + tokens.length], () => 1)],
    ['position_ids', integers([1, tokens.length], (index) => before + index)],
  ]);
}

/** The cache that a run returned, as the next one's input. */
function cacheIn(outputs: Values): Values {
  return new Map(
    [...outputs].flatMap(([name, value]) => {
      return name.startsWith('present_') ? [[name.replace('present_', 'past_'), value] as const] : [];
    }),
  );
}

function likeliest(outputs: Values): number {
  const logits = outputs.get('logits');
  const scores = logits === undefined ? [] : Array.from(elementsOf(logits), Number);
  return scores.reduce((best, score, index) => (score > (scores[best] ?? -Infinity) ? index : best), 0);
}

function opened(benchmark: Benchmark, { predictor, threads, temporaryFolder }: DecoderEnvironment): Promise<OpenModel> {
  return openFilledModel(predictor, materialize(benchmark), buildRunOptions(threads), { temporaryFolder });
}

async function timed(model: OpenModel, feeds: Values): Promise<{ readonly outputs: Values; readonly ms: number }> {
  const run = model.prepare(feeds);
  const startMs = performance.now();
  const outputs = await run.evaluate();
  return { outputs, ms: performance.now() - startMs };
}

/**
 * Generates tokens with a decoder of the zoo and made-up weights: one run for the whole prompt, then one token in each
 * step. Each step reads the cache that the step before returned. Each graph runs once as a warm-up before it is timed,
 * and only one graph is open at a time.
 *
 * @param prefill with a sequence as long as the prompt @param decode with the cache's dimension open
 * @param count tokens to generate; the run for the prompt generates the first one
 */
export async function generate(
  prefill: LoadedModel,
  decode: LoadedModel,
  prompt: readonly number[],
  count: number,
  environment: DecoderEnvironment,
): Promise<Generated> {
  const reader = await opened(weightlessBenchmark(prefill.model), environment);
  await timed(reader, feedsOf(prompt, 0));
  const first = await timed(reader, feedsOf(prompt, 0));
  await reader.close();
  const tokens = [likeliest(first.outputs)];
  const furtherTokensMs: number[] = [];
  const writer = await opened(symbolicBenchmark(decode.model, decode.open ?? decode.model), environment);
  let cache = cacheIn(first.outputs);
  await timed(writer, new Map([...feedsOf(tokens, prompt.length), ...cache]));
  while (tokens.length < count) {
    const before = prompt.length + tokens.length - 1;
    const { outputs, ms } = await timed(writer, new Map([...feedsOf(tokens.slice(-1), before), ...cache]));
    tokens.push(likeliest(outputs));
    furtherTokensMs.push(ms);
    cache = cacheIn(outputs);
  }
  await writer.close();
  return { tokens, firstTokenMs: first.ms, furtherTokensMs };
}
