import { PlatformError } from '../base/errors.js';
import type { DeclaredType, Dimension, Model } from './model.js';
import { quoted } from '../base/quoted.js';
import { listed } from './node-label.js';

/** The sizes that bind a model's symbolic dimensions. */
export interface BindOptions {
  /** For the first dimension of inputs, where it is symbolic and has no binding of its own. */
  readonly batch: number;
}

const isSymbol = (dim: Dimension | undefined): dim is string => typeof dim === 'string';

/**
 * Gives the model's symbolic dimensions their sizes, in the types of all values. The first dimension of an input is the
 * batch: where it is symbolic and not bound by name, it becomes `batch`, and so does the same symbol everywhere.
 * Dimensions of other values that are not known then stay as they are.
 *
 * @param bindings sizes by symbol
 * @throws PlatformError 'model' where a binding has no symbol, an input keeps a dimension without size, or the batch is
 *   fixed in the model at another size; 'usage' where a size is not a whole number
 */
export function bindDimensions(model: Model, bindings: ReadonlyMap<string, number>, { batch }: BindOptions): Model {
  const { graph } = model;
  checkSizes(bindings, batch);
  checkSymbols(model, bindings);
  const sizes = new Map(bindings);
  for (const name of graph.inputs) {
    const symbol = graph.types.get(name)?.dims?.[0];
    if (isSymbol(symbol) && symbol !== '' && !sizes.has(symbol)) sizes.set(symbol, batch);
  }
  const bind = ({ elementType, dims }: DeclaredType, isInput: boolean): DeclaredType => ({
    elementType,
    dims: dims?.map((dim, i) => {
      if (dim === '') return isInput && i === 0 ? batch : dim;
      return isSymbol(dim) ? (sizes.get(dim) ?? dim) : dim;
    }),
  });
  const inputs = new Set(graph.inputs);
  const types = new Map([...graph.types].map(([name, type]) => [name, bind(type, inputs.has(name))]));
  const bound = { ...model, graph: { ...graph, types } };
  for (const name of graph.inputs) checkInput(bound, name);
  checkNamed(bound);
  checkBatch(bound, batch);
  return bound;
}

function checkSizes(bindings: ReadonlyMap<string, number>, batch: number): void {
  if (!Number.isSafeInteger(batch) || batch < 1) {
    throw new PlatformError('usage', `a batch of ${batch} is not possible; give a whole number from 1 up`);
  }
  for (const [symbol, size] of bindings) {
    if (Number.isSafeInteger(size) && size >= 0) continue;
    throw new PlatformError('usage', `dimension ${quoted(symbol)} cannot be ${size}; give a whole number from 0 up`);
  }
}

function checkSymbols({ source, graph }: Model, bindings: ReadonlyMap<string, number>): void {
  const dims = [...graph.types.values()].flatMap((type) => type.dims ?? []);
  const symbols = new Set(dims.filter((dim) => isSymbol(dim) && dim !== ''));
  for (const symbol of bindings.keys()) {
    if (symbols.has(symbol)) continue;
    const there =
      symbols.size === 0 ? 'no dimension of it has a name' : `it has ${listed([...symbols].map(String).map(quoted))}`;
    throw new PlatformError(
      'model',
      `${source} has no dimension called ${quoted(symbol)}; ${there}. Correct the name.`,
    );
  }
}

function checkInput({ source, graph }: Model, name: string): void {
  const dims = graph.types.get(name)?.dims;
  const input = `${source}: input ${quoted(name)}`;
  if (dims === undefined) {
    throw new PlatformError(
      'model',
      `${input} does not state its number of dimensions. Export the model with input shapes.`,
    );
  }
  const index = dims.indexOf('');
  if (index < 0) return;
  const problem = `dimension ${index} has neither a size nor a name`;
  throw new PlatformError('model', `${input}: ${problem}. Export the model with names for its dynamic dimensions.`);
}

/** All sizes that are missing are named at once. */
function checkNamed({ source, graph }: Model): void {
  const open = graph.inputs.flatMap((name) => {
    return (graph.types.get(name)?.dims ?? []).filter(isSymbol).map((symbol) => [symbol, name] as const);
  });
  if (open.length === 0) return;
  const inputs = new Map<string, string[]>();
  for (const [symbol, name] of open) inputs.set(symbol, [...(inputs.get(symbol) ?? []), name]);
  const symbols = [...inputs.keys()];
  const problems = symbols.map((symbol) => {
    const [first = '', ...others] = new Set(inputs.get(symbol));
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `dimension ${quoted(symbol)} of input ${quoted(first)}${more}`;
  });
  const options = symbols.map((symbol) => `--dimension ${symbol}=SIZE`).join(' ');
  const what = symbols.length === 1 ? 'size is' : 'sizes are';
  throw new PlatformError(
    'model',
    `${source}: the ${what} not known of ${listed(problems)}. ` +
      `Give ${symbols.length === 1 ? 'it' : 'them'} with ${options}, or under "dimensions" in the model's manifest.`,
  );
}

/** At least one input must have the requested batch, unless the batch is 1. */
function checkBatch({ source, graph }: Model, batch: number): void {
  if (batch === 1) return;
  const first = graph.inputs.map((name) => graph.types.get(name)?.dims?.[0]);
  if (first.includes(batch)) return;
  const fixed = first.find((size) => size !== undefined);
  const problem = fixed === undefined ? 'the model has no batch dimension' : `the model's batch is fixed at ${fixed}`;
  const advice = fixed === undefined ? 'Leave the batch at 1' : `Ask for ${fixed}`;
  throw new PlatformError(
    'model',
    `${source}: ${problem}, so it cannot be ${batch}. ${advice}, or export another model.`,
  );
}
