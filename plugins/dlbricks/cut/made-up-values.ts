import {
  constantValues,
  ELEMENT_TYPES,
  isRandom,
  type LayerGraph,
  type Model,
  nestedNodes,
  type Node,
  readNames,
  readsShapeOnly,
  steeringConstants,
  steeringNames,
  findSteeringValues,
} from '../../../src/plugin-api.js';

// Some operators do as much work, or have outputs as large, as values say: non-maximum suppression, NonZero, a Loop.

/** assumed: an input that is a mask or a number; made up: a weight or a picture. */
type Source = 'assumed' | 'made up';

function moreUncertain(one: Source | undefined, other: Source | undefined): Source | undefined {
  return one === 'made up' || other === 'made up' ? 'made up' : (one ?? other);
}

type Followed = Pick<LayerGraph, 'layers' | 'inputs' | 'constants' | 'given' | 'ofRun' | 'madeUp'> & {
  readonly types: Model['graph']['types'];
};

class Following {
  readonly #contents = new Map<string, Source>();
  readonly #sizes = new Map<string, Source>();
  /** Constants whose sizes are made up. */
  readonly #sizedConstants: ReadonlySet<string>;
  /** At the kernel cut, constants of a class have given values, too: made-up ones. */
  readonly #given: ReadonlySet<string>;

  constructor(private readonly graph: Followed) {
    const { inputs, types, constants, layers, madeUp, given } = graph;
    this.#given = new Set(inputs.filter((name) => given?.has(name)));
    for (const name of inputs) {
      const kind = ELEMENT_TYPES[types.get(name)?.elementType ?? 'float32'].kind;
      this.#markContent(name, kind === 'float' ? 'made up' : 'assumed');
    }
    const kept = steeringConstants({ nodes: layers, initializers: constants });
    for (const name of constants.keys()) if (!kept.has(name)) this.#markContent(name, 'made up');
    for (const name of madeUp?.contents ?? []) this.#markContent(name, 'made up');
    // What layers make is followed from layer to layer, also where it is known for the made-up values.
    for (const name of layers.flatMap(({ outputs }) => outputs)) this.#contents.delete(name);
    const isList = (name: string): boolean => !types.has(name) && constants.get(name)?.dims.length !== 0;
    this.#sizedConstants = new Set(madeUp?.sizes.filter(isList));
    for (const name of this.#sizedConstants) this.#markSize(name, 'made up');
  }

  /** Which of these values have made-up contents, and which have made-up sizes. */
  among(names: readonly string[]): NonNullable<LayerGraph['madeUp']> {
    return {
      contents: names.filter((name) => this.#contents.has(name)),
      sizes: names.filter((name) => this.#sizes.has(name)),
    };
  }

  /** A run says nothing about what it assumed itself, such as a trip count that is an input. */
  #isKnown(name: string, source: Source): boolean {
    const { ofRun } = this.graph;
    const isOfRun = source === 'made up' && ofRun?.weights === 'own' && ofRun.values.has(name);
    return this.#given.has(name) || isOfRun;
  }

  #markContent(name: string, source: Source): void {
    if (!this.#isKnown(name, source)) this.#contents.set(name, source);
  }

  #markSize(name: string, source: Source): void {
    const isScalar = this.graph.types.get(name)?.dims?.length === 0;
    if (!this.#isKnown(name, source) && !isScalar) this.#sizes.set(name, source);
  }

  /** What unknown values decide, the sizes first, and where these values come from. */
  #readBy(layer: Node): { readonly decides: 'sizes' | 'work'; readonly source: Source } | undefined {
    let work: { readonly decides: 'work'; readonly source: Source } | undefined;
    for (const { name, aspect, decides } of findSteeringValues(layer)) {
      const content = aspect === 'content' ? this.#contents.get(name) : undefined;
      // Where a length is an input, all of the sequence is used, and the report names the input.
      const isWhole = decides === 'lengths' && content === 'assumed';
      const source = moreUncertain(isWhole ? undefined : content, this.#sizes.get(name));
      if (source === undefined) continue;
      if (decides === 'sizes') return { decides, source };
      work = { decides: 'work', source };
    }
    return work;
  }

  follow(layer: Node): { readonly depends: boolean; readonly isReader: boolean } {
    const read = this.#readBy(layer);
    const names = readNames(layer);
    const isShape = readsShapeOnly(layer);
    const most = (values: ReadonlyMap<string, Source>): Source | undefined =>
      names.map((name) => values.get(name)).reduce(moreUncertain, undefined);
    const sized = most(this.#sizes);
    const content = isRandom(layer) ? 'made up' : moreUncertain(sized, isShape ? undefined : most(this.#contents));
    const size = moreUncertain(read?.decides === 'sizes' ? read.source : undefined, isShape ? undefined : sized);
    for (const name of layer.outputs) {
      if (content !== undefined) this.#markContent(name, content);
      if (size !== undefined) this.#markSize(name, size);
    }
    const isReader = read !== undefined || names.some((name) => this.#sizedConstants.has(name));
    return { depends: isReader || sized !== undefined, isReader };
  }
}

/** They give a node with subgraphs its name in messages. */
const SELECTING: ReadonlySet<string> = new Set(['Compress', 'NonMaxSuppression', 'NonZero', 'Unique']);

/** With the inner operators that select values, as in "If (NonMaxSuppression)". */
function formatLabel(layer: Node): string {
  const [, ...inner] = nestedNodes([layer]);
  const selecting = new Set(inner.map(({ opType }) => opType).filter((opType) => SELECTING.has(opType)));
  return selecting.size === 0 ? layer.opType : `${layer.opType} (${[...selecting].join(', ')})`;
}

function followAll(graph: Followed): Following {
  const following = new Following(graph);
  for (const layer of graph.layers) following.follow(layer);
  return following;
}

function toFollow({ graph }: Model): Followed {
  return { ...graph, layers: graph.nodes, constants: graph.initializers };
}

/** Computed values that decide the work of layers, and are known only because inputs are given. Any run makes them. */
export function steeringByGiven(graph: Followed): ReadonlySet<string> {
  const { layers, given } = graph;
  if (given === undefined || given.size === 0) return new Set();
  const computed = new Set(layers.flatMap(({ outputs }) => outputs));
  const names = layers.flatMap(steeringNames).filter((name) => computed.has(name));
  const unknownWith = (one: Followed): ReadonlySet<string> => new Set(followAll(one).among(names).contents);
  const unknown = unknownWith(graph);
  const withoutGiven = unknownWith({ ...graph, given: undefined });
  return new Set(names.filter((name) => withoutGiven.has(name) && !unknown.has(name)));
}

export function isSteeredByGiven(model: Model): boolean {
  return steeringByGiven(toFollow(model)).size > 0;
}

/** Made-up among the values that a runtime computes before the first run: from constants, and from shapes. */
export function madeUpConstants(model: Model): NonNullable<LayerGraph['madeUp']> {
  const { produced, fromShapes } = constantValues(model.graph);
  return followAll(toFollow(model)).among([...produced, ...fromShapes]);
}

/**
 * Takes linear time.
 *
 * @returns operators, each once, in the graph's order; layers: ascending indices, with those of all layers whose sizes
 *   follow from theirs
 */
export function findMadeUpValues(graph: LayerGraph) {
  const following = new Following(graph);
  const layers = new Set<number>();
  const operators = new Map<string, number>();
  for (const [index, layer] of graph.layers.entries()) {
    const { depends, isReader } = following.follow(layer);
    if (depends) layers.add(index);
    if (!isReader) continue;
    const operator = formatLabel(layer);
    operators.set(operator, (operators.get(operator) ?? 0) + 1);
  }
  if (layers.size === 0) return undefined;
  return { operators: [...operators].map(([operator, count]) => ({ operator, count })), layers };
}
