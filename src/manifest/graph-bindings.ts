import { PlatformError } from '../base/errors.js';
import type { Dimension, Graph, Model } from '../onnx/model/model.js';
import { type ModelManifest, type ModelTensor, symbolBindings } from './model.js';
import { escaped, quoted } from '../base/quoted.js';

function show(dimensions: readonly Dimension[]): string {
  return `[${dimensions.map((dimension) => escaped(String(dimension))).join(', ')}]`;
}

function nameOf({ layer_name }: ModelTensor, names: readonly string[]): string | undefined {
  return typeof layer_name === 'number' ? names[layer_name] : names.find((name) => name === layer_name);
}

function unknownLayer({ layer_name }: ModelTensor, what: string, names: readonly string[]): string {
  const wanted = typeof layer_name === 'number' ? `number ${layer_name}` : quoted(layer_name);
  return `${what} ${wanted}: the graph has ${names.map(quoted).join(', ')}`;
}

/** @returns how they differ */
function alignInput(input: ModelTensor, graph: Graph, bindings: Map<string, number>): string | undefined {
  const name = nameOf(input, graph.inputs);
  if (name === undefined) return unknownLayer(input, 'input', graph.inputs);
  const declared = graph.types.get(name);
  if (declared === undefined) return undefined;
  if (input.element_type !== undefined && input.element_type !== declared.elementType) {
    return `input ${quoted(name)}: ${input.element_type}, where the graph has ${declared.elementType}`;
  }
  const { dims } = declared;
  if (dims === undefined || input.dimensions === undefined) return undefined;
  const sizes = input.dimensions.map((dimension) => {
    return typeof dimension === 'string' ? (bindings.get(dimension) ?? dimension) : dimension;
  });
  const agrees = dims.length === sizes.length && dims.every((dim, i) => typeof dim === 'string' || dim === sizes[i]);
  const clash = `input ${quoted(name)}: ${show(input.dimensions)}, where the graph has ${show(dims)}`;
  if (!agrees) return clash;
  for (const [i, dim] of dims.entries()) {
    const size = sizes[i];
    if (typeof dim !== 'string' || dim === '' || typeof size !== 'number') continue;
    if ((bindings.get(dim) ?? size) !== size) return `${clash} with ${quoted(dim)} = ${bindings.get(dim)}`;
    bindings.set(dim, size);
  }
  return undefined;
}

/**
 * The sizes of symbolic dimensions: bound by name, or by a size at the symbol's place in an input of the manifest. May
 * include names that the graph does not have.
 *
 * @throws PlatformError `model` with a line for each input or output in which manifest and graph differ
 */
export function graphBindings(manifest: ModelManifest, model: Model, batchSize: number): ReadonlyMap<string, number> {
  const { graph } = model;
  const bindings = new Map(symbolBindings(manifest, batchSize));
  const inputs = manifest.inputs.map((input) => alignInput(input, graph, bindings));
  const outputs = manifest.outputs.map((output) => {
    return nameOf(output, graph.outputs) === undefined ? unknownLayer(output, 'output', graph.outputs) : undefined;
  });
  const differences = [...inputs, ...outputs].filter((difference) => difference !== undefined);
  if (differences.length === 0) return bindings;
  throw new PlatformError(
    'model',
    `${model.source} differs from the manifest of ${manifest.name}; correct the manifest:\n` +
      differences.map((difference) => `  ${difference}`).join('\n'),
  );
}
