import { PlatformError } from '../../base/errors.js';
import { shellQuoted } from '../../base/shell-quoted.js';
import { dimensionExpression } from './dimension-expression.js';
import type { DeclaredType, Dimension, Model } from '../model/model.js';
import { quoted } from '../../base/quoted.js';
import { listed } from '../model/node-label.js';

const isSymbol = (dim: Dimension | undefined): dim is string => typeof dim === 'string';

/** Names of the dimensions that a model leaves open: its symbols, and the names in symbols that are expressions. */
export function dimensionNames({ graph }: Model): readonly string[] {
  const symbols = [...graph.types.values()].flatMap(({ dims = [] }) => dims.filter(isSymbol));
  return [...new Set(symbols.flatMap((symbol) => dimensionExpression(symbol)?.names ?? [symbol]))].filter(Boolean);
}

/**
 * Gives symbols their sizes in the types of all values. An input's first dimension becomes `batch` where it is an
 * unbound symbol, and so does this symbol everywhere. Expressions are computed; other unknown dimensions stay.
 *
 * @throws PlatformError 'model' for a binding without its symbol, inputs without sizes (it names them all) or another
 *   fixed batch; 'usage' for a size that is no whole number
 */
export function bindDimensions(
  model: Model,
  bindings: ReadonlyMap<string, number>,
  { batch }: { readonly batch: number },
): Model {
  const { graph } = model;
  checkSizes(bindings, batch);
  checkSymbols(model, bindings);
  const sizes = new Map(bindings);
  for (const name of graph.inputs) {
    const symbol = graph.types.get(name)?.dims?.[0];
    if (!isSymbol(symbol) || sizes.has(symbol)) continue;
    if (dimensionExpression(symbol) === undefined) sizes.set(symbol, batch);
  }
  const computeSize = (symbol: string): Dimension =>
    sizes.get(symbol) ?? dimensionExpression(symbol)?.size(sizes) ?? symbol;
  const bind = ({ elementType, dims }: DeclaredType, isInput: boolean): DeclaredType => ({
    elementType,
    dims: dims?.map((dim, i) => {
      if (dim === '') return isInput && i === 0 ? batch : dim;
      return isSymbol(dim) ? computeSize(dim) : dim;
    }),
  });
  const inputs = new Set(graph.inputs);
  const types = new Map([...graph.types].map(([name, type]) => [name, bind(type, inputs.has(name))]));
  const bound = { ...model, graph: { ...graph, types } };
  checkInputs(bound, sizes);
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

function checkSymbols(model: Model, bindings: ReadonlyMap<string, number>): void {
  const names = dimensionNames(model);
  const symbols = new Set([...names, ...[...model.graph.types.values()].flatMap(({ dims = [] }) => dims)]);
  for (const symbol of bindings.keys()) {
    if (symbols.has(symbol)) continue;
    const there = names.length === 0 ? 'no dimension of it has a name' : `it has ${listed(names.map(quoted))}`;
    throw new PlatformError(
      'model',
      `${model.source} has no dimension called ${quoted(symbol)}; ${there}. Correct the name.`,
    );
  }
}

/** With the names that need a size: the symbol itself, or the names in its expression. */
function openDimensions({ source, graph }: Model, input: string, sizes: ReadonlyMap<string, number>) {
  const dims = graph.types.get(input)?.dims;
  const place = `${source}: input ${quoted(input)}`;
  if (dims === undefined) {
    throw new PlatformError(
      'model',
      `${place} does not state its number of dimensions. Export the model with input shapes.`,
    );
  }
  const unnamed = dims.indexOf('');
  if (unnamed >= 0) {
    const problem = `dimension ${unnamed} has neither a size nor a name`;
    throw new PlatformError('model', `${place}: ${problem}. Export the model with names for its dynamic dimensions.`);
  }
  return dims.filter(isSymbol).map((symbol) => {
    const expression = dimensionExpression(symbol);
    if (expression === undefined) return { input, symbol, names: [symbol] };
    const missing = expression.names.filter((name) => !sizes.has(name));
    if (missing.length > 0) return { input, symbol, names: missing };
    throw new PlatformError(
      'model',
      `${place}: dimension ${quoted(symbol)} does not give a whole number from 0 up. Give other sizes.`,
    );
  });
}

function checkInputs(model: Model, sizes: ReadonlyMap<string, number>): void {
  const open = model.graph.inputs.flatMap((input) => openDimensions(model, input, sizes));
  const [first] = open;
  if (first === undefined) return;
  const symbols = [...new Set(open.map(({ symbol }) => symbol))].map((symbol) => {
    const inputs = open.filter((one) => one.symbol === symbol).map(({ input }) => quoted(input));
    return `${quoted(symbol)} (of input ${listed([...new Set(inputs)])})`;
  });
  const hints = [...new Set(open.flatMap(({ names }) => names))].map(
    (name) => `--dimension ${shellQuoted(`${name}=SIZE`)}`,
  );
  const problem =
    symbols.length === 1 ? 'the size of a dimension is not known' : 'the sizes of dimensions are not known';
  throw new PlatformError(
    'model',
    `${model.source}: ${problem}: ${symbols.join(', ')}. Give ${hints.length === 1 ? 'it' : 'them'} with ` +
      `${hints.join(' ')}, or under "dimensions" in the model's manifest.`,
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

export interface BoundDimension {
  readonly name: string;
  readonly size: number;
}

/** The dimensions of inputs that a model leaves open, each once. @param bound the same model with all of them bound */
export function boundDimensions(open: Model, bound: Model): readonly BoundDimension[] {
  const sizes = new Map<string, number>();
  for (const input of open.graph.inputs) {
    const dims = bound.graph.types.get(input)?.dims;
    open.graph.types.get(input)?.dims?.forEach((name, at) => {
      const size = dims?.[at];
      if (isSymbol(name) && name !== '' && typeof size === 'number') sizes.set(name, size);
    });
  }
  return [...sizes].map(([name, size]) => ({ name, size }));
}
