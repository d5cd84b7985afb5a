import type { Graph, Node } from '../model/model.js';
import { nestedNodes } from '../model/nested-nodes.js';
import { quantizationInputs } from '../operators/quantization-inputs.js';

// A runtime fuses dequantization, an operator and quantization into a quantized kernel only where their scales match.
// So scales are not random: different constants get different values, one constant has one value, and the scale of a
// bias is the product of the scales that its operator multiplies.

/** So far apart that each is exact as a float16. None is above 6/255, so a value clipped at 6 covers its range. */
const SCALES_PER_BINADE = 512;
const MAX_BINADE = 2 ** -7;
const BINADES = 4;

function scaleNumber(n: number): number {
  const binade = MAX_BINADE / 2 ** (Math.floor(n / SCALES_PER_BINADE) % BINADES);
  return binade * (1 + (n % SCALES_PER_BINADE) / (2 * SCALES_PER_BINADE));
}

/** Operators whose third input is a bias. Its scale is the product of the scales of the other two. */
const BIASED = new Set(['Conv', 'ConvTranspose', 'FusedConv', 'FusedGemm', 'Gemm']);

/** Operators whose output has the scale of their input. */
const KEEPING_SCALE = new Set(['Flatten', 'Identity', 'MaxPool', 'Reshape', 'Squeeze', 'Transpose', 'Unsqueeze']);

/** Most operators through which a value is followed back to its DequantizeLinear. */
const MAX_STEPS = 8;

function findScale(value: string | undefined, producers: ReadonlyMap<string, Node>): string | undefined {
  let node = producers.get(value ?? '');
  for (let step = 0; step < MAX_STEPS && node !== undefined; step++) {
    if (node.opType === 'DequantizeLinear') return node.inputs[1];
    node = KEEPING_SCALE.has(node.opType) ? producers.get(node.inputs[0] ?? '') : undefined;
  }
  return undefined;
}

/** For each scale of a bias, the two scales whose product it is. */
function biasScales(nodes: readonly Node[]): ReadonlyMap<string, readonly [string, string]> {
  const producers = new Map(nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const factors = new Map<string, readonly [string, string]>();
  for (const { opType, inputs } of nodes) {
    if (!BIASED.has(opType) || inputs.length < 3) continue;
    const [input, weight, bias] = [0, 1, 2].map((index) => findScale(inputs[index], producers));
    if (input === undefined || weight === undefined || bias === undefined) continue;
    if (bias !== input && bias !== weight) factors.set(bias, [input, weight]);
  }
  return factors;
}

/**
 * For a graph's inputs, by name. They keep the relations by which ONNX Runtime decides on fusions.
 * Source: onnxruntime/core/optimizer/qdq_transformer (IsQDQPairSupported, IsClipMadeRedundantByQ; selectors).
 */
export function quantizationScales({ nodes, inputs }: Pick<Graph, 'nodes' | 'inputs'>): ReadonlyMap<string, number> {
  const all = [...nestedNodes(nodes)];
  const used = new Set(all.flatMap((node) => quantizationInputs(node).scales.map((index) => node.inputs[index] ?? '')));
  if (used.size === 0) return new Map();
  const products = biasScales(all);
  const values = new Map<string, number>();
  for (const name of inputs) if (used.has(name) && !products.has(name)) values.set(name, scaleNumber(values.size));
  for (const [name, factors] of products) {
    const [input, weight] = factors.map((factor) => values.get(factor));
    if (input !== undefined && weight !== undefined) values.set(name, input * weight);
  }
  return values;
}
