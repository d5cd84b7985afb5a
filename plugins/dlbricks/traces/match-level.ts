import type { TracedLayer, TracedTensor } from '../../../src/plugin-api.js';

/** The facts by which two layers count as the same, the strongest first. */
export const MATCH_LEVELS = ['signature', 'attributes', 'shapes'] as const;

export type MatchLevel = (typeof MATCH_LEVELS)[number];

/** How a latency was found: by a level, by the same place in the same model, or by filling in. */
export type FoundBy = MatchLevel | 'position' | 'fill';

/** The same in words. */
export const FOUND_BY: Readonly<Record<FoundBy, string>> = {
  position: 'place in the model itself',
  signature: 'signature',
  attributes: 'operator, attributes and shapes',
  shapes: 'operator and shapes',
  fill: 'filled in from other layers of the operator',
};

/** What layers are compared by. */
export interface LayerFacts extends Pick<
  TracedLayer,
  'operator' | 'signature' | 'attributes' | 'inputs' | 'outputs' | 'operations' | 'bytes'
> {
  /** Indices of the inputs that are not weights, where known: tables often leave weights out. */
  readonly activations?: readonly number[] | undefined;
}

/** Which of inputs, outputs and element types are compared: those that the trace holds. */
export type Known = '' | `${'' | 'i'}${'' | 'o'}${'' | 't'}`;

function hasTypes(facts: LayerFacts): boolean {
  return [...(facts.inputs ?? []), ...(facts.outputs ?? [])].every(({ elementType }) => elementType !== undefined);
}

/** The facts that all of these layers have; '' where they are too few for the level. */
export function knownOf(layers: readonly LayerFacts[], level: MatchLevel): Known {
  if (level === 'signature' || (level === 'attributes' && layers.some(({ attributes }) => attributes === undefined)))
    return '';
  const i = layers.every(({ inputs }) => inputs !== undefined) ? 'i' : '';
  const o = layers.every(({ outputs }) => outputs !== undefined) ? 'o' : '';
  if (i === '' && o === '') return '';
  return `${i}${o}${layers.every(hasTypes) ? 't' : ''}`;
}

/** One text for equal attributes, in any order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, inner]) => [key, canonical(inner)]);
}

function tensorsKey(tensors: readonly TracedTensor[], known: Known): unknown {
  return tensors.map(({ elementType, dims }) => (known.includes('t') ? [elementType, dims] : dims));
}

/**
 * A text that is equal for layers, or sequences of layers, that are the same at a level.
 *
 * @param known the facts to compare
 * @param onlyActivations leaves weights out of the inputs
 * @returns undefined where the layers lack one of them
 */
export function matchKey(
  layers: readonly LayerFacts[],
  level: MatchLevel,
  known: Known,
  onlyActivations = false,
): string | undefined {
  if (level === 'signature') {
    const signatures = layers.map(({ signature }) => signature);
    return signatures.every((signature) => signature !== undefined) ? JSON.stringify(signatures) : undefined;
  }
  const own = knownOf(layers, level);
  if (known === '' || ![...known].every((fact) => own.includes(fact))) return undefined;
  if (onlyActivations && layers.some(({ activations }) => activations === undefined)) return undefined;
  return JSON.stringify(
    layers.map(({ operator, attributes, inputs = [], outputs = [], activations }) => {
      const compared = onlyActivations ? (activations ?? []).flatMap((index) => inputs[index] ?? []) : inputs;
      return [
        operator,
        level === 'attributes' ? canonical(attributes) : 0,
        known.includes('i') ? tensorsKey(compared, known) : 0,
        known.includes('o') ? tensorsKey(outputs, known) : 0,
      ];
    }),
  );
}

/** Identity of a sequence, as far as its trace shows: equal for those that are one unique layer. */
export function identityOf(layers: readonly LayerFacts[]): string {
  for (const level of MATCH_LEVELS) {
    const known = knownOf(layers, level);
    const key = matchKey(layers, level, known);
    if (key !== undefined) return `${level} ${known} ${key}`;
  }
  return `operators ${JSON.stringify(layers.map(({ operator }) => operator))}`;
}
