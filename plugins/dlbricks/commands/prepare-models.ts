import type { CommandHost, LoadedModel } from '../../../src/plugin-api.js';
import { prepareAll, type Preparing } from '../bricks/prepare-all.js';
import type { PreparedModel } from '../bricks/prepare-model.js';

export async function prepareModels(
  models: readonly LoadedModel[],
  { quiet, ...preparing }: Omit<Preparing, 'signal' | 'onModel'> & { readonly quiet: boolean },
  host: CommandHost,
): Promise<readonly PreparedModel[]> {
  const progress = host.progress(quiet);
  try {
    return await prepareAll(models, {
      ...preparing,
      signal: host.signal,
      onModel: ({ name }, done) => progress.step('cutting', done, models.length, name),
    });
  } finally {
    progress.stop();
  }
}
