import {
  ELEMENT_TYPES,
  type LayerGraph,
  nestedNodes,
  type Node,
  readNames,
  readsShapeOnly,
  steeringConstants,
  findSteeringValues,
} from '../../../src/plugin-api.js';

// Some operators do as much work, or have outputs as large, as values say: non-maximum suppression, NonZero, a Loop.

/** assumed: an input that is a mask or a number; made up: a weight or a picture. */
type Source = 'assumed' | 'made up';

function moreUncertain(one: Source | undefined, other: Source | undefined): Source | undefined {
  return one === 'made up' || other === 'made up' ? 'made up' : (one ?? other);
}

class Following {
  readonly #contents = new Map<string, Source>();
  readonly #sizes = new Set<string>();

  constructor(private readonly graph: LayerGraph) {
    const { inputs, types, constants, layers } = graph;
    for (const name of inputs) {
      const kind = ELEMENT_TYPES[types.get(name)?.elementType ?? 'float32'].kind;
      this.#markContent(name, kind === 'float' ? 'made up' : 'assumed');
    }
    const kept = steeringConstants({ nodes: layers, initializers: constants });
    for (const name of constants.keys()) if (!kept.has(name)) this.#markContent(name, 'made up');
    // What layers make is followed from layer to layer, also where it is known for the made-up values.
    for (const name of layers.flatMap(({ outputs }) => outputs)) this.#contents.delete(name);
  }

  #isGiven(name: string): boolean {
    const { given, ofRun } = this.graph;
    return given?.has(name) === true || (ofRun?.weights === 'own' && ofRun.values.has(name));
  }

  #markContent(name: string, source: Source): void {
    if (!this.#isGiven(name)) this.#contents.set(name, source);
  }

  #markSize(name: string): void {
    const isScalar = this.graph.types.get(name)?.dims.length === 0;
    if (!this.#isGiven(name) && !isScalar) this.#sizes.add(name);
  }

  #readBy(layer: Node): 'sizes' | 'work' | undefined {
    let decides: 'sizes' | 'work' | undefined;
    for (const { name, aspect, ...value } of findSteeringValues(layer)) {
      const source = aspect === 'content' ? this.#contents.get(name) : undefined;
      // Where a length is an input, all of the sequence is used, and the report names the input.
      const isWhole = value.decides === 'lengths' && source === 'assumed';
      if ((source === undefined || isWhole) && !this.#sizes.has(name)) continue;
      if (value.decides === 'sizes') return 'sizes';
      decides = 'work';
    }
    return decides;
  }

  follow(layer: Node): { readonly depends: boolean; readonly isReader: boolean } {
    const decides = this.#readBy(layer);
    const reads = readNames(layer);
    const isSized = reads.some((name) => this.#sizes.has(name));
    let source: Source | undefined = isSized ? 'made up' : undefined;
    if (!readsShapeOnly(layer)) for (const name of reads) source = moreUncertain(source, this.#contents.get(name));
    for (const name of layer.outputs) {
      if (source !== undefined) this.#markContent(name, source);
      if (decides === 'sizes' || (isSized && !readsShapeOnly(layer))) this.#markSize(name);
    }
    return { depends: decides !== undefined || isSized, isReader: decides !== undefined };
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
