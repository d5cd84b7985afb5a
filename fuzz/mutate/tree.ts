import type { Random } from '../random.js';
import { hostileCount } from './hostile-values.js';

/** The operations on a format that the mutations of trees need. */
export interface Grammar<T> {
  /** Empty where the node has no parts. */
  parts(node: T): readonly T[];
  withParts(node: T, parts: readonly T[]): T;
  /** Nodes of one kind can replace each other. */
  kind(node: T): string | number;
  /** A replacement for the node that its reader does not expect. */
  hostile(node: T, random: Random): T;
}

/** Indices of parts, from the root down. */
type Path = readonly number[];

/** A node and its place in the tree. */
interface Place<T> {
  readonly node: T;
  readonly index: number;
  readonly around: Place<T> | undefined;
}

function pathTo(place: Place<unknown>): Path {
  const path: number[] = [];
  for (let at = place; at.around !== undefined; at = at.around) path.push(at.index);
  return path.reverse();
}

/** Maximum number of nodes that a mutation adds. With more, quadratic code takes seconds. */
const MAX_NODES = 20_000;

/** Maximum depth of a tree. Mutations of texts cover deeper nesting. */
const MAX_DEPTH = 1000;

/** A tree, with operations that do not depend on its format. */
class Tree<T> {
  constructor(
    readonly root: T,
    readonly grammar: Grammar<T>,
  ) {}

  /** The places of all nodes, the root's first. */
  places(): readonly Place<T>[] {
    const found: Place<T>[] = [{ node: this.root, index: 0, around: undefined }];
    for (const around of found) {
      if (found.length > MAX_NODES) break;
      this.grammar.parts(around.node).forEach((node, index) => found.push({ node, index, around }));
    }
    return found;
  }

  at(path: Path): T {
    return path.reduce<T>((node, index) => this.grammar.parts(node)[index] as T, this.root);
  }

  /** The tree with other nodes in place of the node at the path. */
  put(path: Path, nodes: readonly T[]): T {
    const replaceIn = (node: T, depth: number): T => {
      const parts = [...this.grammar.parts(node)];
      const index = path[depth] ?? 0;
      const inside = depth === path.length - 1 ? nodes : [replaceIn(parts[index] as T, depth + 1)];
      return this.grammar.withParts(node, [...parts.slice(0, index), ...inside, ...parts.slice(index + 1)]);
    };
    return path.length === 0 ? (nodes[0] ?? this.root) : replaceIn(this.root, 0);
  }
}

function sizeOf<T>(node: T, grammar: Grammar<T>): number {
  return grammar.parts(node).reduce((size, part) => size + sizeOf(part, grammar), 1);
}

/** One change of a tree; returns the new root. @param path of the node that is changed, never the root's */
type Mutation = <T>(tree: Tree<T>, path: Path, random: Random) => T;

const remove: Mutation = (tree, path) => tree.put(path, []);

const replace: Mutation = (tree, path, random) => {
  return tree.put(path, [tree.grammar.hostile(tree.at(path), random)]);
};

const duplicate: Mutation = (tree, path, random) => {
  const node = tree.at(path);
  const most = Math.max(2, Math.floor(MAX_NODES / sizeOf(node, tree.grammar)));
  return tree.put(path, new Array<typeof node>(hostileCount(random, most)).fill(node));
};

/** Replaces a node by another one. Where both are at the same depth, the two nodes change places. */
const swap = <T>(tree: Tree<T>, path: Path, random: Random): T => {
  const other = pathTo(random.pick(tree.places()));
  const node = tree.at(path);
  const otherNode = tree.at(other);
  const changed = tree.put(path, [otherNode]);
  const isApart = path.length === other.length && path.length > 0;
  return isApart ? new Tree(changed, tree.grammar).put(other, [node]) : changed;
};

/**
 * Each node below one of the same kind: [the nearest such node, the node]. The root does not count as the upper one.
 */
function nestable<T>(
  { grammar, root }: Tree<T>,
  places: readonly Place<T>[],
): readonly (readonly [Place<T>, Place<T>])[] {
  return places.flatMap((place): (readonly [Place<T>, Place<T>])[] => {
    let around = place.around;
    while (around !== undefined && grammar.kind(around.node) !== grammar.kind(place.node)) around = around.around;
    return around === undefined || around.node === root ? [] : [[around, place]];
  });
}

/** Replaces a node by a node around it, repeatedly: a list in a list, a branch in a branch. */
const nest = <T>(tree: Tree<T>, path: Path, random: Random): T => {
  const pairs = nestable(tree, tree.places());
  const pair = pairs.length === 0 ? undefined : random.pick(pairs);
  const whole = pair === undefined ? path : pathTo(pair[1]);
  const around = pair === undefined ? path.slice(0, random.below(path.length)) : pathTo(pair[0]);
  const inner = whole.slice(around.length);
  const outer = new Tree(tree.at(around), tree.grammar);
  const room = Math.floor(MAX_NODES / sizeOf(outer.root, tree.grammar));
  const times = Math.min(room, hostileCount(random, Math.ceil(MAX_DEPTH / inner.length)));
  let nested = outer.root;
  for (let i = 0; i < times; i++) nested = outer.put(inner, [nested]);
  return around.length === 0 ? nested : tree.put(around, [nested]);
};

const MUTATIONS: readonly Mutation[] = [remove, replace, replace, duplicate, swap, nest];

/** The tree with one random change of its structure. */
export function mutateTree<T>(root: T, grammar: Grammar<T>, random: Random): T {
  const tree = new Tree(root, grammar);
  const path = pathTo(random.pick(tree.places()));
  if (path.length === 0 || path.length > MAX_DEPTH) return root;
  return random.pick(MUTATIONS)(tree, path, random);
}
