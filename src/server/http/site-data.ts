import type { RegisteredAgent, AgentDirectory } from '../../directory/agent-directory.js';
import { currentEstimates, estimatedSystems } from '../../measuring/estimates.js';
import type { ClientSecurity } from '../../rpc/security.js';
import type { ResultStore } from '../../store/result-store.js';
import type { EstimatesView } from '../../web/site/estimate-pages.js';
import { systemNames } from '../../web/site/estimate-cells.js';
import type { Platform } from '../platform.js';

/** Shows the result of a plugin as a part of a page; undefined where no plugin here understands it. */
export type ShowResult = (plugin: string, resultJson: Buffer) => Promise<string | undefined>;

export interface WebSources {
  readonly platform: Platform;
  readonly store: ResultStore;
  readonly agents: AgentDirectory;
  /** The authorities and the certificate for agents; each agent is shown its own token only. */
  readonly agentSecurity: ClientSecurity;
  readonly showResult: ShowResult;
}

/** How long visitors share one read of the store's estimates. */
const FRESH_MS = 2000;

export class SharedEstimates {
  #view: Promise<EstimatesView> | undefined;

  constructor(private readonly store: ResultStore) {}

  get(): Promise<EstimatesView> {
    if (this.#view === undefined) {
      const view = this.#read();
      this.#view = view;
      const forget = (): void => void (this.#view = undefined);
      view.then(() => setTimeout(forget, FRESH_MS).unref(), forget);
    }
    return this.#view;
  }

  async #read(): Promise<EstimatesView> {
    const estimates = await currentEstimates(this.store);
    const systems = await estimatedSystems(this.store);
    return { estimates, systems };
  }
}

type EstimateQuery = Readonly<Partial<Record<'q' | 'system' | 'plugin' | 'batch' | 'model', string | undefined>>>;

/** The estimates that a query asks for. Each word of `q` is a part of the model, the system or the settings. */
export function selected(view: EstimatesView, { q = '', system, plugin, batch, model }: EstimateQuery): EstimatesView {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const nameOf = systemNames([...view.systems.values()]);
  const estimates = view.estimates.filter((estimate) => {
    if (model !== undefined && estimate.model !== model) return false;
    if (system && estimate.system !== system) return false;
    if (plugin && estimate.plugin !== plugin) return false;
    if (batch && String(estimate.batch) !== batch) return false;
    const { dimensions, settings } = estimate;
    const text = [estimate.model, nameOf(estimate.system), estimate.plugin, dimensions, settings]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return { ...view, estimates };
}

/** The agents without what only they and the platform know. */
export function publicAgent({ id: _id, accessToken: _token, number: _number, models, ...agent }: RegisteredAgent) {
  return { ...agent, models: models.map(({ name, version }) => ({ name, version })) };
}
