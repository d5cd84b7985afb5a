import { PlatformError } from '../base/errors.js';
import type { AgentDirectory, RegisteredAgent } from '../directory/agent-directory.js';
import type { AgentEndpoint } from '../evaluation/link/link.js';
import type { SubmissionPart } from '../evaluation/records.js';
import { isOneAgent, type Requirements, unmetRequirements } from '../manifest/index.js';
import type { Collection } from '../store/collection.js';
import type { EvaluationJob } from './job.js';
import type { SubmissionLoader } from './loading/submission-loader.js';
import { getSubmission } from './submission-store.js';

/** Where the inputs of runs come from. */
export interface RunSources {
  readonly agents: AgentDirectory;
  readonly submissions: Collection<SubmissionPart>;
  readonly loader: SubmissionLoader;
}

/** The inputs of a run. */
export interface RunInputs {
  /** In wire format. */
  readonly submission: Uint8Array;
  /** At least one. */
  readonly agents: readonly AgentEndpoint[];
  /** The first agent's framework. */
  readonly framework: string;
  readonly frameworkVersion: string;
}

/** The most addresses that an event names. Further agents are only counted. */
const MOST_NAMED = 8;

export function addressesOf(agents: readonly AgentEndpoint[]): string {
  const named = agents.slice(0, MOST_NAMED).map(({ address }) => address);
  const others = agents.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join(', ');
}

/**
 * Chooses the agents of an evaluation and reads its submission.
 *
 * @param waitForAgentMs how long the evaluation may wait for an agent
 * @returns undefined if no agent fits yet
 */
export async function prepareRunInputs(
  job: EvaluationJob,
  sources: RunSources,
  waitForAgentMs: number,
): Promise<RunInputs | undefined> {
  const requirements = (job.requirements ??= await storedRequirements(job, sources));
  let agents: readonly [RegisteredAgent, ...RegisteredAgent[]];
  try {
    agents = choose(requirements, sources.agents);
  } catch (error) {
    const waitedMs = performance.now() - job.waitingSinceMs;
    if (!(error instanceof PlatformError) || waitedMs > waitForAgentMs) throw error;
    await job.wait(error.message);
    return undefined;
  }
  const [{ framework, frameworkVersion }] = agents;
  const submission = await getSubmission(job.id, sources.submissions);
  const endpoints = agents.map(({ address, tls, accessToken: token }) => ({ address, tls, token }));
  return { submission, agents: endpoints, framework, frameworkVersion };
}

/** Chooses one agent, or all that fit if several are required. Only the agents know which of them are of one system. */
function choose(requirements: Requirements, agents: AgentDirectory): readonly [RegisteredAgent, ...RegisteredAgent[]] {
  const unmet = (system: RegisteredAgent): readonly string[] => unmetRequirements(requirements, system);
  return isOneAgent(requirements.agents) ? [agents.choose(unmet)] : agents.chooseAll(unmet, requirements.agents.most);
}

/** The requirements of an evaluation that was submitted to another server, or before a restart. */
async function storedRequirements(job: EvaluationJob, { submissions, loader }: RunSources): Promise<Requirements> {
  let requirements: Requirements | undefined;
  await loader.load(await getSubmission(job.id, submissions), (described) => {
    requirements = described.requirements;
    return false;
  });
  if (requirements === undefined) throw new PlatformError('internal', 'the submission has no manifest');
  return requirements;
}
