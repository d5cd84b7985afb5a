import {
  type AgentOptions,
  type BenchmarkAgent,
  COMMAND_DEFAULTS,
  type CommandHost,
  type LoadedModel,
  loadModels,
  runsOn,
} from '../../../src/plugin-api.js';
import { chooseGranularity, type CutSettings } from '../bricks/decompose.js';
import { prepareAll, type prepareModel, type PreparedModel } from '../bricks/prepare-model.js';
import { type MeasuringOptions, parseCutSettings } from './options.js';

interface Preparing {
  readonly agent: BenchmarkAgent;
  readonly prepare: typeof prepareModel;
  readonly quiet?: boolean | undefined;
}

/** Shows a progress bar. */
export async function prepareModels(
  models: readonly LoadedModel[],
  settings: CutSettings,
  { agent, prepare, quiet = false }: Preparing,
  host: CommandHost,
): Promise<readonly PreparedModel[]> {
  const progress = host.progress(quiet);
  const onModel = ({ name }: LoadedModel, done: number): void => progress.step('cutting', done, models.length, name);
  return prepareAll(models, settings, { agent, signal: host.signal }, prepare, onModel).finally(() => progress.stop());
}

/**
 * Loads models, and cuts them as the options ask.
 *
 * @param prepare decides what becomes of models that cannot be cut
 * @param onUnusable as for {@link loadModels}
 */
export async function loadAndPrepare(
  references: readonly string[],
  options: MeasuringOptions & Pick<AgentOptions, 'allowVersion'> & { readonly quiet?: boolean },
  agent: BenchmarkAgent,
  host: CommandHost,
  prepare: typeof prepareModel,
  onUnusable?: Parameters<typeof loadModels>[3],
) {
  const settings = parseCutSettings(options, agent.description);
  const loaded = await loadModels(references, { ...options, runsOn: runsOn(agent, options) }, host, onUnusable);
  const prepared = await prepareModels(loaded, settings, { agent, prepare, quiet: options.quiet }, host);
  const { batch = COMMAND_DEFAULTS.batch } = options;
  const header = { cut: settings.cut, granularity: chooseGranularity(settings, agent.description), batch };
  return { settings, loaded, prepared, header };
}
