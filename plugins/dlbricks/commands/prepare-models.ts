import type { BenchmarkAgent, CommandHost, LoadedModel } from '../../../src/plugin-api.js';
import type { CutSettings, PreparedModel, prepareModel } from '../bricks/prepare-model.js';

/** How the models are taken apart, and the agent that optimizes them. */
export interface Preparing {
  readonly settings: CutSettings;
  readonly agent: BenchmarkAgent;
  /** Called with each prepared model. */
  readonly prepare: typeof prepareModel;
  readonly quiet: boolean;
}

/** Takes models apart one by one, with a bar. */
export async function prepareModels(
  models: readonly LoadedModel[],
  { settings, agent, prepare, quiet }: Preparing,
  host: CommandHost,
): Promise<readonly PreparedModel[]> {
  const progress = host.progress(quiet);
  const prepared: PreparedModel[] = [];
  try {
    for (const [done, model] of models.entries()) {
      progress.step('cutting', done, models.length, model.name);
      prepared.push(await prepare(model, settings, agent, host.signal));
    }
  } finally {
    progress.stop();
  }
  return prepared;
}
