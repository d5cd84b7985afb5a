import type { TracedTensor } from '../../../src/plugin-api.js';
import type { LayerFacts } from '../work/layer-facts.js';

/** The facts by which two layers count as the same, the strongest first. */
export const MATCH_LEVELS = ['signature', 'attributes', 'shapes', 'partial'] as const;

export type MatchLevel = (typeof MATCH_LEVELS)[number];

/** How a latency was found: by a level, by the same place in the same model, or by filling in. */
export type FoundBy = MatchLevel | 'position' | 'fill';

export const FOUND_BY: Readonly<Record<FoundBy, string>> = {
  position: 'place in the model itself',
  signature: 'signature',
  attributes: 'operator, attributes and shapes',
  shapes: 'operator and shapes',
  partial: 'operator and the shapes of the weights that the trace has',
  fill: 'filled in from other layers with the same operator',
};

/**
 * The compared facts, as far as the trace holds them: inputs, outputs, and the element types of all tensors (t) or of the
 * first output only (f).
 */
export type Known = '' | `${'' | 'i'}${'' | 'o'}${'' | 't' | 'f'}`;

export function hasTypes(facts: LayerFacts): boolean {
  return [...(facts.inputs ?? []), ...(facts.outputs ?? [])].every(({ elementType }) => elementType !== undefined);
}

function hasOutputType({ outputs = [] }: LayerFacts): boolean {
  return outputs[0]?.elementType !== undefined;
}

/** The facts that all of these layers have; '' where they are too few for the level. */
export function findKnown(layers: readonly LayerFacts[], level: MatchLevel): Known {
  if (level === 'signature' || (level === 'attributes' && layers.some(({ attributes }) => attributes === undefined)))
    return '';
  const i = layers.every(({ inputs }) => inputs !== undefined) ? 'i' : '';
  const o = layers.every(({ outputs }) => outputs !== undefined) ? 'o' : '';
  if (i === '' && o === '') return '';
  return `${i}${o}${layers.every(hasTypes) ? 't' : layers.every(hasOutputType) ? 'f' : ''}`;
}

function hasAll(layers: readonly LayerFacts[], level: MatchLevel, known: Known): boolean {
  const own = findKnown(layers, level);
  return [...known].every((fact) => own.includes(fact) || (fact === 'f' && layers.every(hasOutputType)));
}

/** A form that is the same for equal attributes in any order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, inner]) => [key, canonical(inner)]);
}

function tensorsKey(tensors: readonly TracedTensor[], isTyped: (index: number) => boolean): unknown {
  return tensors.map(({ elementType, dims }, index) => (isTyped(index) ? [elementType, dims] : dims));
}

/** The size of a convolution's kernel shows neither in its input nor in its output. */
const CONVOLUTION = /conv/i;

/**
 * Equal for layers, or sequences of layers, that are the same at a level; undefined where they lack a known fact.
 *
 * @param compared for each layer, the indices of the inputs to compare; default: all
 */
export function matchKey(
  layers: readonly LayerFacts[],
  level: MatchLevel,
  known: Known,
  compared?: readonly (readonly number[])[],
): string | undefined {
  if (level === 'signature') {
    const signatures = layers.map(({ signature }) => signature);
    return signatures.every((signature) => signature !== undefined) ? JSON.stringify(signatures) : undefined;
  }
  if (known === '' || !hasAll(layers, level, known)) return undefined;
  const isTyped = known.includes('t');
  return JSON.stringify(
    layers.map(({ operator, attributes, inputs = [], outputs = [], name = '' }, i) => {
      const chosen = compared === undefined ? inputs : (compared[i] ?? []).flatMap((index) => inputs[index] ?? []);
      return [
        operator,
        level === 'attributes' ? canonical(attributes) : 0,
        level === 'partial' && CONVOLUTION.test(operator) ? name : 0,
        known.includes('i') ? tensorsKey(chosen, () => isTyped) : 0,
        known.includes('o') ? tensorsKey(outputs, (index) => isTyped || (index === 0 && known.includes('f'))) : 0,
      ];
    }),
  );
}

/** Operators with more weights are not prepacked. */
const MAX_WEIGHTS = 16;

/** Most weights of one kernel that runtimes prepack: two of an LSTM. */
const MAX_PREPACKED = 2;

/** Every choice of one to `most` of these indices. */
function choices(indices: readonly number[], most: number): readonly (readonly number[])[] {
  if (most === 0) return [];
  return indices.flatMap((first, i) => {
    return [[first], ...choices(indices.slice(i + 1), most - 1).map((rest) => [first, ...rest])];
  });
}

/**
 * Tables often leave all weights out. The profile of ONNX Runtime leaves out those that the runtime has prepacked:
 * `[1,2048];[1000]` for a Gemm with a bias. @param known the facts that the measurements hold
 */
export function keysToFind(layers: readonly LayerFacts[], level: MatchLevel, known: Known): readonly string[] {
  const keys = (compared: readonly (readonly (readonly number[])[] | undefined)[]): readonly string[] =>
    compared.flatMap((chosen) => matchKey(layers, level, known, chosen) ?? []);
  const activations = layers.flatMap((layer) => (layer.activations === undefined ? [] : [layer.activations]));
  if (level === 'signature' || activations.length < layers.length) return level === 'partial' ? [] : keys([undefined]);
  if (level !== 'partial') return keys([undefined, activations]);
  const [layer, second] = layers;
  if (layer === undefined || second !== undefined) return [];
  const indices = (layer.inputs ?? []).map((_input, index) => index);
  const weights = indices.filter((index) => layer.activations?.includes(index) !== true);
  if (weights.length > MAX_WEIGHTS) return [];
  return keys(choices(weights, MAX_PREPACKED).map((left) => [indices.filter((index) => !left.includes(index))]));
}

/** Equal for sequences that count as one unique layer. @param position where only the operators are known */
export function layersKey(layers: readonly LayerFacts[], position = ''): string {
  for (const level of MATCH_LEVELS) {
    const known = findKnown(layers, level);
    const key = matchKey(layers, level, known);
    if (key !== undefined) return `${level} ${known} ${key}`;
  }
  return `operators ${JSON.stringify(layers.map(({ operator }) => operator))} ${position}`;
}
