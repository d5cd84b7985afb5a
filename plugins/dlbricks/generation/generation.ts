import { CACHE_SYMBOLS, type LoadedModel, PlatformError, withSizes } from '../../../src/plugin-api.js';
import type { ModelReport, Report } from '../report/report-schema.js';

export interface Generation {
  readonly prompt: number;
  /** Tokens that it generates, one after another; the run for the prompt generates the first one. */
  readonly tokens: number;
}

/** Maximum number of cache lengths at which a step is estimated; between them, the latency is interpolated linearly. */
const MAX_LENGTHS = 5;

/** Lengths of the cache in all steps after the first token: each step reads the cache of all tokens before it. */
export function cacheLengths({ prompt, tokens }: Generation): readonly number[] {
  return Array.from({ length: tokens - 1 }, (_, step) => prompt + step);
}

export function sampledLengths(generation: Generation): readonly number[] {
  const all = cacheLengths(generation);
  if (all.length <= MAX_LENGTHS) return all;
  const at = (index: number): number => Math.round((index * (all.length - 1)) / (MAX_LENGTHS - 1));
  return Array.from({ length: MAX_LENGTHS }, (_, index) => all[at(index)] ?? 0);
}

type AtLength = readonly [length: number, value: number];

/** @param samples in the order of their lengths, with those of the first and the last step */
export function sumOverSteps(samples: readonly AtLength[], generation: Generation): number {
  let next = 0;
  return cacheLengths(generation).reduce((sum, length) => {
    while (next < samples.length - 1 && (samples[next]?.[0] ?? 0) < length) next++;
    const [to, high] = samples[next] ?? [length, 0];
    const [from, low] = samples[Math.max(0, next - 1)] ?? [to, high];
    return sum + (to === from ? high : low + ((high - low) * (length - from)) / (to - from));
  }, 0);
}

/** Endings of the names of a decoder's two graphs: for a prompt, and for a token after a cache. */
const PREFILL = /[_-]prefill$/;
const DECODE = /[_-]decode$/;

/** Exporters' names for the length of the prompt. */
const PROMPT_SYMBOLS = ['sequence', 'sequence_length'];

interface Decoder {
  readonly name: string;
  readonly prefill: string;
  readonly steps: readonly { readonly length: number; readonly model: string }[];
}

/** The model with another size of one dimension: the first of these symbols that it has. */
function resized(loaded: LoadedModel, symbols: readonly string[], size: number, batch: number): LoadedModel {
  const { name, open } = loaded;
  const symbol = symbols.find((candidate) => loaded.symbols.includes(candidate));
  if (open === undefined || symbol === undefined) {
    const problem = `${name}: generation needs a graph with an open dimension called ${symbols.join(' or ')}`;
    throw new PlatformError('model', `${problem}; export the model with it, or leave generation out`);
  }
  const sized = withSizes(loaded, batch, { batch, dimensions: new Map([[symbol, size]]) });
  return { ...sized, name: `${name} (${symbol} ${size})` };
}

/**
 * Replaces each decoder by the prompt, and a step at some lengths of the cache.
 *
 * @throws PlatformError `manifest` where there is no decoder, `model` where one of its graphs leaves no length open
 */
export function withDecoders(models: readonly LoadedModel[], generation: Generation, batch: number) {
  const decodeOf = new Map(
    models.flatMap((model) => (DECODE.test(model.name) ? [[model.name.replace(DECODE, ''), model] as const] : [])),
  );
  const pairs = models.flatMap((prefill) => {
    const name = prefill.name.replace(PREFILL, '');
    const decode = PREFILL.test(prefill.name) ? decodeOf.get(name) : undefined;
    return decode === undefined ? [] : [{ name, prefill, decode }];
  });
  if (pairs.length === 0) {
    const expected = 'expected two models whose names differ only in _prefill and _decode at their ends';
    throw new PlatformError('manifest', `generation: ${expected}, found ${models.map(({ name }) => name).join(', ')}`);
  }
  const inPairs = new Set(pairs.flatMap(({ prefill, decode }) => [prefill, decode]));
  const decoders: Decoder[] = [];
  const added = pairs.flatMap(({ name, prefill, decode }) => {
    const reading = resized(prefill, PROMPT_SYMBOLS, generation.prompt, batch);
    const steps = sampledLengths(generation).map((length) => {
      return { length, model: resized(decode, CACHE_SYMBOLS, length, batch) };
    });
    const named = steps.map(({ length, model }) => ({ length, model: model.name }));
    decoders.push({ name, prefill: reading.name, steps: named });
    return [reading, ...steps.map(({ model }) => model)];
  });
  return { models: [...models.filter((model) => !inPairs.has(model)), ...added], decoders };
}

type Key = 'estimate_ms' | 'estimate_low_ms' | 'estimate_high_ms' | 'end_to_end_ms';

/** Bounds are sums of bounds: the errors of one machine and method add up. Partial estimates give none. */
export function composeGenerations(
  report: Report,
  decoders: readonly Decoder[],
  generation: Generation,
): Report['generations'] {
  const byName = new Map(report.models.map((model) => [model.name, model]));
  const readValue = (model: ModelReport | undefined, key: Key): number | null => {
    return model?.coverage === 1 ? model[key] : null;
  };
  return decoders.map(({ name, prefill, steps }) => {
    const first = (key: Key): number | null => readValue(byName.get(prefill), key);
    const further = (key: Key): number | null => {
      const samples = steps.flatMap(({ length, model }): readonly AtLength[] => {
        const value = readValue(byName.get(model), key);
        return value === null ? [] : [[length, value]];
      });
      return samples.length < steps.length ? null : sumOverSteps(samples, generation);
    };
    return {
      model: name,
      prompt: generation.prompt,
      tokens: generation.tokens,
      first_token_ms: first('estimate_ms'),
      first_token_low_ms: first('estimate_low_ms'),
      first_token_high_ms: first('estimate_high_ms'),
      first_token_measured_ms: first('end_to_end_ms'),
      further_tokens_ms: further('estimate_ms'),
      further_tokens_low_ms: further('estimate_low_ms'),
      further_tokens_high_ms: further('estimate_high_ms'),
      further_tokens_measured_ms: further('end_to_end_ms'),
      cache_lengths: steps.map(({ length }) => length),
    };
  });
}
