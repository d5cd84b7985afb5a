import type { TracedModel } from '../foreign-traces/collect-models.js';

export function nameOf({ model, source }: Pick<TracedModel, 'model' | 'source'>): string {
  return model ?? source.replace(/^.*\//, '').replace(/\.[^.]*$/, '');
}
