import { PlatformError } from '../base/errors.js';
import type { AgentDirectory, RegisteredAgent, Unmet } from '../directory/agent-directory.js';
import type { SubmissionPart } from '../evaluation/records.js';
import { isOneAgent } from '../manifest/agents.js';
import { unmetRequirements } from '../manifest/requirements.js';
import type { Collection } from '../store/collection.js';
import type { EvaluationJob } from './job.js';
import type { SubmissionLoader } from './loading/submission-loader.js';
import { getSubmission } from './submission-store.js';
import { whileUnavailable } from './while-unavailable.js';

export interface RunSources {
  readonly agents: AgentDirectory;
  readonly submissions: Collection<SubmissionPart>;
  readonly loader: SubmissionLoader;
}

export interface RunInputs {
  readonly submission: Uint8Array;
  /** At least one. The first ones do the work, as many as are required; the others can replace them. */
  readonly agents: readonly [RegisteredAgent, ...RegisteredAgent[]];
  /** Addresses of the agents that do the work. */
  readonly working: readonly string[];
}

/** The most addresses that an event names. Further agents are only counted. */
const MAX_NAMED = 8;

export function listAddresses(addresses: readonly string[]): string {
  const named = addresses.slice(0, MAX_NAMED);
  const others = addresses.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join(', ');
}

/**
 * @param waitForAgentMs how long the evaluation may wait for an agent
 * @param signal ends the wait for a store whose server is gone
 * @returns undefined if no agent fits yet
 */
export async function prepareRunInputs(
  job: EvaluationJob,
  sources: RunSources,
  waitForAgentMs: number,
  signal: AbortSignal,
): Promise<RunInputs | undefined> {
  // Its requirements are not known here if it was submitted to another server, or before a restart.
  const stored = (): Promise<Uint8Array> => whileUnavailable(() => getSubmission(job.id, sources.submissions), signal);
  job.requirements ??= (await sources.loader.load(await stored(), () => false)).described.requirements;
  const { requirements } = job;
  let agents: RunInputs['agents'];
  try {
    const unmet: Unmet = (system) => unmetRequirements(requirements, system);
    // The chosen ones come first. Only the agents know which of them are of one system.
    agents = sources.agents.chooseAll(unmet, isOneAgent(requirements.agents) ? 1 : requirements.agents.most);
  } catch (error) {
    if (!(error instanceof PlatformError) || job.lackingMs() > waitForAgentMs) throw error;
    const { message } = error;
    await whileUnavailable(() => job.wait(message), signal);
    return undefined;
  }
  const submission = await stored();
  const addresses = agents.map(({ address }) => address);
  return { submission, agents, working: isOneAgent(requirements.agents) ? addresses.slice(0, 1) : addresses };
}
