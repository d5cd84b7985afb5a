import type { TracedModel } from '../../../src/plugin-api.js';

/** A model's name; one without a name has that of its file. */
export function nameOf({ model, source }: Pick<TracedModel, 'model' | 'source'>): string {
  return model ?? source.replace(/^.*\//, '').replace(/\.[^.]*$/, '');
}
