import { bindDimensions, CACHE_SYMBOLS, type LoadedModel, PlatformError } from '../../../src/plugin-api.js';
import { type Generation, sampledLengths } from './cache-lengths.js';

/** Endings of the names of a decoder's two graphs: for a prompt, and for a token after a cache. */
const PREFILL = /[_-]prefill$/;
const DECODE = /[_-]decode$/;

/** Exporters' names for the length of the prompt. */
const PROMPT_SYMBOLS = ['sequence', 'sequence_length'];

export interface Decoder {
  readonly name: string;
  readonly prefill: string;
  readonly steps: readonly { readonly length: number; readonly model: string }[];
}

function readSizes({ model, open, symbols }: LoadedModel): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of open?.graph.inputs ?? []) {
    for (const [at, symbol] of (open?.graph.types.get(name)?.dims ?? []).entries()) {
      const size = model.graph.types.get(name)?.dims?.[at];
      if (typeof symbol === 'string' && symbols.includes(symbol) && typeof size === 'number') sizes.set(symbol, size);
    }
  }
  return sizes;
}

/** The model with another size of one dimension: the first of these symbols that it has. */
function resized(loaded: LoadedModel, symbols: readonly string[], size: number, batch: number): LoadedModel {
  const { name, open } = loaded;
  const symbol = symbols.find((candidate) => loaded.symbols.includes(candidate));
  if (open === undefined || symbol === undefined) {
    const problem = `${name}: generation needs a graph with an open dimension called ${symbols.join(' or ')}`;
    throw new PlatformError('model', `${problem}; export the model with it, or leave generation out`);
  }
  const bound = bindDimensions(open, readSizes(loaded).set(symbol, size), { batch });
  const model = { ...bound, graph: { ...bound.graph, given: loaded.model.graph.given } };
  return { ...loaded, name: `${name} (${symbol} ${size})`, model };
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
