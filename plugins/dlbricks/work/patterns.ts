import { type AnalysisTable, counted, type LayerGraph } from '../../../src/plugin-api.js';

export const MAX_PATTERN_LENGTH = 10;

/** How many paths have these types of layers, which are joined by commas. */
type Paths = Map<string, number>;

function add(paths: Paths, pattern: string, count: number): void {
  paths.set(pattern, (paths.get(pattern) ?? 0) + count);
}

/** Counted, not listed: there may be exponentially many. */
function countPaths({ layers }: LayerGraph, length: number): Paths {
  /** By a value's name: the paths that end at the layer that made it, by their length. */
  const endingAt = new Map<string, readonly Paths[]>();
  const all: Paths = new Map();
  for (const { opType, inputs, outputs } of layers) {
    const before = new Set(inputs.flatMap((name) => [endingAt.get(name) ?? []]));
    const here = Array.from({ length }, (): Paths => new Map());
    here[0]?.set(opType, 1);
    for (const paths of before) {
      for (const [index, ofLength] of paths.slice(0, -1).entries()) {
        for (const [pattern, count] of ofLength) add(here[index + 1] ?? all, `${pattern},${opType}`, count);
      }
    }
    for (const name of outputs) if (name !== '') endingAt.set(name, here);
    for (const [pattern, count] of here[length - 1] ?? []) add(all, pattern, count);
  }
  return all;
}

/** Occurrences are paths through the graphs. */
export function countPatterns(graphs: readonly LayerGraph[], length: number) {
  const occurrences: Paths = new Map();
  const models: Paths = new Map();
  for (const graph of graphs) {
    for (const [pattern, count] of countPaths(graph, length)) {
      add(occurrences, pattern, count);
      add(models, pattern, 1);
    }
  }
  return [...occurrences]
    .map(([pattern, count]) => ({
      operators: pattern.split(','),
      occurrences: count,
      models: models.get(pattern) ?? 0,
    }))
    .sort((a, b) => b.occurrences - a.occurrences || b.models - a.models);
}

export function patternsTable(
  patterns: ReturnType<typeof countPatterns>,
  length: number,
  graphs: number,
): AnalysisTable {
  const total = patterns.reduce((sum, { occurrences }) => sum + occurrences, 0);
  return {
    columns: [
      { key: 'pattern', title: 'pattern', align: 'left' },
      { key: 'occurrences', title: 'occurrences', align: 'right' },
      { key: 'occurrences_percent', title: 'occurrences', unit: '%', align: 'right' },
      { key: 'models', title: 'models', align: 'right' },
    ],
    rows: patterns.map(({ operators, occurrences, models }) => ({
      pattern: operators.join(' > '),
      occurrences,
      occurrences_percent: (100 * occurrences) / total,
      models,
    })),
    notes: [
      `A pattern is the types of ${length} layers, each of which reads an output of the one before: ${counted(total, 'path')}, ${counted(patterns.length, 'pattern')} in ${counted(graphs, 'model')}.`,
    ],
  };
}
