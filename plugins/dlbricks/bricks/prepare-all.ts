import pMap from 'p-map';
import type { BenchmarkAgent, LoadedModel } from '../../../src/plugin-api.js';
import type { CutSettings } from './decompose.js';
import type { PreparedModel, prepareModel } from './prepare-model.js';

export interface Preparing {
  readonly settings: CutSettings;
  readonly agent: BenchmarkAgent;
  readonly prepare: typeof prepareModel;
  readonly signal: AbortSignal;
  /** Called before each model. @param done how many are done already */
  readonly onModel: (model: LoadedModel, done: number) => void;
}

/** Most models that are prepared at once, on an agent with many cores. */
export const MAX_CONCURRENT = 8;

/** Takes as many at once as the machine has cores: nothing is timed meanwhile. Results are in order. */
export async function prepareAll(
  models: readonly LoadedModel[],
  { settings, agent, prepare, signal, onModel }: Preparing,
): Promise<readonly PreparedModel[]> {
  const { cores } = agent.description;
  let done = 0;
  const prepareOne = async (model: LoadedModel): Promise<PreparedModel> => {
    onModel(model, done);
    const prepared = await prepare(model, settings, agent, signal);
    done++;
    return prepared;
  };
  return pMap(models, prepareOne, { concurrency: Math.min(cores, MAX_CONCURRENT) });
}
