import { MAX_LAYERS } from './layer-limits.js';

/** Layers by their content, numbered in the order in which they come. */
export class Distinct<Layer> {
  readonly all: Layer[] = [];
  private readonly ids = new Map<string, number>();

  idOf(layer: Layer, tooMany: (most: number) => Error): number {
    const identity = JSON.stringify(layer);
    const id = this.ids.get(identity) ?? this.all.length;
    if (id < this.all.length) return id;
    if (id >= MAX_LAYERS) throw tooMany(MAX_LAYERS);
    this.ids.set(identity, id);
    this.all.push(layer);
    return id;
  }
}
