import type { TracedModel } from '../../../src/plugin-api.js';

export function nameOf({ model, source }: Pick<TracedModel, 'model' | 'source'>): string {
  return model ?? source.replace(/^.*\//, '').replace(/\.[^.]*$/, '');
}
