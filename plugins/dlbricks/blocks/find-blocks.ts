import { type Model, readNames, sortedAttributes, steeringConstants } from '../../../src/plugin-api.js';

function plain(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** Two nodes have the same label where they do the same with values of the same types, wherever these come from. */
function nodeLabels({ nodes, initializers, inputs, types }: Model['graph']): readonly number[] {
  const steering = steeringConstants({ nodes, initializers });
  const fed = new Set(inputs);
  const typeOf = (name: string): string => {
    const type = types.get(name);
    return type === undefined ? 'unknown' : `${type.elementType}[${type.dims?.join() ?? '?'}]`;
  };
  const kindOf = (name: string): string => {
    if (name === '') return 'absent';
    const constant = initializers.get(name);
    if (constant === undefined) return `${fed.has(name) ? 'fed' : 'made'} ${typeOf(name)}`;
    const { elementType, dims, data } = constant;
    const content = steering.has(name) ? JSON.stringify(data, plain) : '';
    return `constant ${elementType}[${dims.join()}] ${content}`;
  };
  const numbers = new Map<string, number>();
  return nodes.map((node) => {
    const does = [node.domain, node.opType, JSON.stringify(sortedAttributes(node.attributes), plain)];
    const label = [...does, ...node.inputs.map(kindOf), '->', ...node.outputs.map(typeOf)].join('\n');
    const number = numbers.get(label) ?? numbers.size;
    numbers.set(label, number);
    return number;
  });
}

/** Each block reads only values of itself, of the block before it, and of nodes before all blocks. */
export interface RepeatedBlocks {
  readonly first: number;
  readonly length: number;
  readonly count: number;
}

/** With fewer, the two shortened graphs, of two and three blocks, have at least as many. */
const MIN_BLOCKS = 4;

const MAX_LENGTHS = 8;

/** The distances between a node and the next one like it that cover the most nodes. */
function likelyLengths(labels: readonly number[]): readonly number[] {
  const last = new Map<number, number>();
  const covered = new Map<number, number>();
  for (const [index, label] of labels.entries()) {
    const before = last.get(label);
    if (before !== undefined) covered.set(index - before, (covered.get(index - before) ?? 0) + index - before);
    last.set(label, index);
  }
  return [...covered]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_LENGTHS)
    .map(([length]) => length);
}

/** Each node, except the last `length`, is like the node `length` later. */
interface Run {
  readonly first: number;
  readonly end: number;
  readonly length: number;
}

function longestRun(labels: readonly number[], length: number): Run {
  let best: Run = { first: 0, end: 0, length };
  let first = 0;
  for (let index = 0; index + length <= labels.length; index++) {
    const isAlike = labels[index] === labels[index + length];
    if (isAlike && index + 1 - first > best.end - length - best.first)
      best = { first, end: index + 1 + length, length };
    if (!isAlike) first = index + 1;
  }
  return best;
}

/** Most pairs of nodes that are compared, for each node: blocks of a model differ soon, or their first place fits. */
const MAX_COMPARISONS = 64;

/** Enough for any block of a small model. */
const MIN_COMPARISONS = 2 ** 19;

class Wiring {
  readonly #producer = new Map<string, number>();
  #left: number;

  constructor(private readonly graph: Model['graph']) {
    this.#left = Math.max(MIN_COMPARISONS, MAX_COMPARISONS * graph.nodes.length);
    for (const [index, { outputs }] of graph.nodes.entries())
      for (const name of outputs) this.#producer.set(name, index);
  }

  isOfBlocks(blocks: RepeatedBlocks): boolean {
    const { first, length, count } = blocks;
    for (let index = first; index < first + (count - 1) * length; index++)
      if (this.#left-- <= 0 || !this.#areAlike(index, blocks)) return false;
    this.#left -= this.graph.nodes.length - first - count * length;
    return this.#leavesFromLast(blocks);
  }

  /** Within its own block and the next one. */
  #areAlike(index: number, { first, length }: RepeatedBlocks): boolean {
    const one = this.graph.nodes[index];
    const next = this.graph.nodes[index + length];
    const block = Math.floor((index - first) / length);
    const others = next?.inputs ?? [];
    return (one?.inputs ?? []).every((name, at) => {
      const [from, fromNext] = [name, others[at] ?? ''].map((value) => this.#producer.get(value));
      if (from === undefined || fromNext === undefined) return from === fromNext;
      if (name === others[at]) return from < first;
      // Where other blocks read the block before them, the first block reads nodes before all blocks.
      if (block === 0 && from < first) return fromNext >= first && fromNext < first + length;
      return fromNext === from + length && from >= first + (block - 1) * length;
    });
  }

  /** Only the last block is read later, and the other blocks have the same outputs of the model. */
  #leavesFromLast({ first, length, count }: RepeatedBlocks): boolean {
    const { nodes, outputs } = this.graph;
    const lastBlock = first + (count - 1) * length;
    const end = lastBlock + length;
    const isInside = (name: string): boolean => {
      const producer = this.#producer.get(name) ?? -1;
      return producer >= first && producer < end;
    };
    for (const node of nodes.slice(end)) {
      const inside = readNames(node).filter(isInside);
      // Names that a subgraph reads are not renamed.
      if (!inside.every((name) => (this.#producer.get(name) ?? -1) >= lastBlock && node.inputs.includes(name)))
        return false;
    }
    const valuesRead: string[][] = Array.from({ length: count }, () => []);
    for (const name of outputs.filter(isInside)) {
      const at = (this.#producer.get(name) ?? first) - first;
      valuesRead[Math.floor(at / length)]?.push(`${at % length} ${nodes[at + first]?.outputs.indexOf(name)}`);
    }
    const keys = valuesRead.slice(0, -1).map((values) => values.sort().join());
    return (
      keys.every((key) => key === keys[0]) && (valuesRead[0] ?? []).every((read) => valuesRead.at(-1)?.includes(read))
    );
  }
}

/** Takes linear time. @returns undefined where shortening does not pay, or too many places may be a block's first */
export function findRepeatedBlocks({ graph }: Pick<Model, 'graph'>): RepeatedBlocks | undefined {
  const labels = nodeLabels(graph);
  const runs = likelyLengths(labels)
    .map((length) => longestRun(labels, length))
    .sort((a, b) => b.end - b.first - (a.end - a.first) || a.length - b.length);
  const wiring = new Wiring(graph);
  for (const { first: start, end, length } of runs) {
    // A block may begin anywhere in its period, and nodes far behind may read the first block.
    for (let first = start; first < start + 2 * length; first++) {
      const blocks = { first, length, count: Math.floor((end - first) / length) };
      if (blocks.count < MIN_BLOCKS) break;
      if (wiring.isOfBlocks(blocks)) return blocks;
    }
  }
  return undefined;
}

/** Bounds the time for graphs that were made to be slow. */
const MAX_DEPTH = 6;

function longestRepeat(labels: readonly number[]): RepeatedBlocks | undefined {
  return (
    likelyLengths(labels)
      .map((length) => longestRun(labels, length))
      .map(({ first, end, length }) => ({ first, length, count: Math.floor((end - first) / length) }))
      // One thing that repeats is no block.
      .filter(({ first, length, count }) => count > 1 && new Set(labels.slice(first, first + length)).size > 1)
      .sort((a, b) => b.count * b.length - a.count * a.length || a.length - b.length)[0]
  );
}

/** Repeats such as the layers of a decoder, in their order; the longest are found first. */
export function repeatsIn(labels: readonly number[], depth = MAX_DEPTH): readonly RepeatedBlocks[] {
  const longest = depth === 0 ? undefined : longestRepeat(labels);
  if (longest === undefined) return [];
  const { first, length, count } = longest;
  const end = first + length * count;
  const after = repeatsIn(labels.slice(end), depth - 1);
  return [
    ...repeatsIn(labels.slice(0, first), depth - 1),
    longest,
    ...after.map((repeat) => ({ ...repeat, first: repeat.first + end })),
  ];
}
