import { type Benchmark, type Model, parseModel } from '../../../src/plugin-api.js';

const parsed = new WeakMap<Uint8Array, Model>();

/** Parsed once. @throws PlatformError `model` where the file is not a model */
export function brickModel({ model }: Pick<Benchmark, 'model'>, source = 'brick'): Model {
  const known = parsed.get(model) ?? parseModel(model, source);
  parsed.set(model, known);
  return known;
}
