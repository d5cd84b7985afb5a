import { DisjointSets, type KernelsOfLayers, type LayerGraph } from '../../../src/plugin-api.js';

export type Units = ReturnType<typeof findUnits>;

/**
 * The author's graph in units that end at values which all variants compute. Layers of other values join readers.
 *
 * @returns units: indices of layers, in the graph's order; leaving: units with outputs of the model, and these outputs
 */
export function findUnits(source: LayerGraph, variants: readonly KernelsOfLayers[]) {
  const { layers, outputs } = source;
  const surviving = variants.map(({ ends }) => new Set(ends));
  const survives = (layer: number): boolean => surviving.every((ends) => ends.has(layer));
  const sets = new DisjointSets(layers.length);
  const producer = new Map<string, number>();
  for (const [index, node] of layers.entries()) for (const output of node.outputs) producer.set(output, index);
  for (const [index, { inputs }] of layers.entries()) {
    for (const name of inputs) {
      const before = producer.get(name);
      if (before !== undefined && !survives(before)) sets.join(before, index);
    }
  }
  const numbers = new Map<number, number>();
  const units: number[][] = [];
  const unitOf = layers.map((_, index) => {
    const root = sets.find(index);
    const number = numbers.get(root) ?? units.length;
    if (number === units.length) units.push([]);
    numbers.set(root, number);
    units[number]?.push(index);
    return number;
  });
  const passing = new Map<string, { from: number; to: number; values: string[] }>();
  for (const [index, { inputs }] of layers.entries()) {
    for (const name of new Set(inputs)) {
      const from = unitOf[producer.get(name) ?? index] ?? 0;
      const to = unitOf[index] ?? 0;
      if (from === to) continue;
      const edge = passing.get(`${from} ${to}`) ?? { from, to, values: [] };
      passing.set(`${from} ${to}`, edge);
      edge.values.push(name);
    }
  }
  const leaving = new Map<number, string[]>();
  for (const name of outputs) {
    const unit = unitOf[producer.get(name) ?? -1];
    if (unit !== undefined) leaving.set(unit, [...(leaving.get(unit) ?? []), name]);
  }
  return { units, unitOf, edges: [...passing.values()], leaving };
}
