import type { Dimension, Model } from '../model/model.js';

export interface BoundDimension {
  readonly name: string;
  readonly size: number;
}

/** The dimensions of inputs that a model leaves open, each once. @param bound the same model with all of them bound */
export function boundDimensions(open: Model, bound: Model): readonly BoundDimension[] {
  const sizes = new Map<string, number>();
  for (const input of open.graph.inputs) {
    const dims: readonly Dimension[] = bound.graph.types.get(input)?.dims ?? [];
    for (const [at, name] of (open.graph.types.get(input)?.dims ?? []).entries()) {
      const size = dims[at];
      if (typeof name === 'string' && name !== '' && typeof size === 'number') sizes.set(name, size);
    }
  }
  return [...sizes].map(([name, size]) => ({ name, size }));
}
