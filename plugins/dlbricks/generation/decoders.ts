import { bindDimensions, type LoadedModel, PlatformError } from '../../../src/plugin-api.js';
import { type Generation, sampledLengths } from './cache-lengths.js';

/**
 * A decoder as two graphs, named alike: one reads a prompt, the other makes a token with a cache of what was before.
 */
const PREFILL = /[_-]prefill$/;
const DECODE = /[_-]decode$/;

/** Exporters' names for the length of the prompt, and of the cache. */
const PROMPT_SYMBOLS = ['sequence', 'sequence_length'];
const CACHE_SYMBOLS = ['past', 'past_sequence_length', 'past_length'];

/** The models of a decoder's generation, by their names in the report. */
export interface Decoder {
  readonly name: string;
  readonly prefill: string;
  /** In the order of the lengths. */
  readonly steps: readonly { readonly length: number; readonly model: string }[];
}

/** The models to estimate, and the decoders among them. */
export interface WithDecoders {
  readonly models: readonly LoadedModel[];
  readonly decoders: readonly Decoder[];
}

/** Sizes that a model's open dimensions were given. */
function sizesOf({ model, open, symbols }: LoadedModel): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of open?.graph.inputs ?? []) {
    for (const [at, symbol] of (open?.graph.types.get(name)?.dims ?? []).entries()) {
      const size = model.graph.types.get(name)?.dims?.[at];
      if (typeof symbol === 'string' && symbols.includes(symbol) && typeof size === 'number') sizes.set(symbol, size);
    }
  }
  return sizes;
}

/** The same model with another size of the first of these dimensions that it has. */
function resized(loaded: LoadedModel, symbols: readonly string[], size: number, batch: number): LoadedModel {
  const { name, open } = loaded;
  const symbol = symbols.find((candidate) => loaded.symbols.includes(candidate));
  if (open === undefined || symbol === undefined) {
    const problem = `${name}: generation needs a graph that leaves a dimension open that is called ${symbols.join(' or ')}`;
    throw new PlatformError('model', `${problem}; export the model with it, or leave generation out`);
  }
  const bound = bindDimensions(open, sizesOf(loaded).set(symbol, size), { batch });
  const model = { ...bound, graph: { ...bound.graph, given: loaded.model.graph.given } };
  return { ...loaded, name: `${name} (${symbol} ${size})`, model };
}

/**
 * Replaces each decoder by the models that its generation is composed of: the prompt, and a step at some lengths of the
 * cache. A decoder is two models with one name but for `prefill` and `decode` at its end.
 *
 * @throws PlatformError `manifest` where there is none, `model` where one leaves no length open
 */
export function withDecoders(models: readonly LoadedModel[], generation: Generation, batch: number): WithDecoders {
  const decodeOf = new Map(
    models.flatMap((model) => (DECODE.test(model.name) ? [[model.name.replace(DECODE, ''), model] as const] : [])),
  );
  const pairs = models.flatMap((prefill) => {
    const name = prefill.name.replace(PREFILL, '');
    const decode = PREFILL.test(prefill.name) ? decodeOf.get(name) : undefined;
    return decode === undefined ? [] : [{ name, prefill, decode }];
  });
  if (pairs.length === 0) {
    const expected = 'expected two models with one name but for _prefill and _decode at its end';
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
