import type { BenchmarkAgent } from '../../agent/benchmark-agent.js';
import type { Machine } from '../../agent/spread/machines.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import type { ResultStore } from '../../store/result-store.js';
import type { Evaluation } from '../evaluation.js';
import { toFailure, note, type PluginEvent } from '../event.js';
import type { AgentEndpoint, Run } from '../link/link.js';
import { loadSubmission, type Submission } from '../submission.js';
import { setSpanModels, setSpanFramework } from '../span-attributes.js';
import { standbyAgent } from '../../agent/spread/standby-agent.js';
import { isOneAgent } from '../../manifest/agents.js';
import { evaluateEach } from './evaluate-each.js';
import { evaluateOn, withNotes } from './evaluate-on.js';
import { findLargest, describeAgents, groupBySystem, withAgents } from './measuring-systems.js';

export interface PluginTools {
  readonly store: ResultStore;
  /** The caller closes the agent. */
  readonly connect: (agent: AgentEndpoint) => Promise<BenchmarkAgent>;
  /** All agents of an agent's class of systems as one, which closes it; undefined where agents share no work. */
  readonly shared?: ((agent: BenchmarkAgent) => BenchmarkAgent) | undefined;
}

/** Others of its system, or the same one anew, replace an agent that ends. @param notes gets one for each time */
function oneAgentAt(
  endpoints: readonly AgentEndpoint[],
  connect: PluginTools['connect'],
  notes: PluginEvent[],
): Promise<BenchmarkAgent> {
  const standbys = endpoints.map((endpoint) => ({ name: endpoint.address, connect: () => connect(endpoint) }));
  return standbyAgent(standbys, { tell: (message) => notes.push(note('warning', message)) });
}

/** The agents that answer. @throws PlatformError of the first agent where none does */
async function machinesAt(
  endpoints: readonly AgentEndpoint[],
  connect: (agent: AgentEndpoint) => Promise<BenchmarkAgent>,
  notes: PluginEvent[],
): Promise<readonly [Machine, ...Machine[]]> {
  const asked = await Promise.allSettled(endpoints.map(connect));
  const machines: Machine[] = [];
  let refusal: unknown = new PlatformError('internal', 'an evaluation without agents');
  for (const [index, answer] of asked.entries()) {
    const name = endpoints[index]?.address ?? '';
    if (answer.status === 'fulfilled') machines.push({ name, agent: answer.value });
    else {
      if (notes.length === 0) refusal = answer.reason;
      notes.push(note('warning', `the agent at ${name} is left out: ${messageOf(answer.reason)}`));
    }
  }
  const [first, ...rest] = machines;
  if (first === undefined) throw refusal;
  return [first, ...rest];
}

async function* runSubmission(
  evaluation: Evaluation,
  run: Run<Submission>,
  { store, connect, shared = (agent) => agent }: PluginTools,
  signal: AbortSignal,
): AsyncGenerator<PluginEvent> {
  const { loaded } = await loadSubmission(run.submission);
  const request = { evaluation: loaded, settings: loaded.settingsOf(evaluation.settings) };
  for (const message of loaded.notes) yield note('info', message);
  for (const { name, reason } of loaded.unusable) yield note('warning', `${name}: ${reason}`);
  const { most, placement } = loaded.requirements.agents;
  const notes: PluginEvent[] = [];
  const machines: readonly [Machine, ...Machine[]] = isOneAgent(loaded.requirements.agents)
    ? [{ name: run.agents[0]?.address ?? '', agent: shared(await oneAgentAt(run.agents, connect, notes)) }]
    : await machinesAt(
        run.agents,
        async (at) => {
          const agent = await oneAgentAt([at], connect, notes);
          return most === 1 ? shared(agent) : agent;
        },
        notes,
      );
  try {
    yield* notes.splice(0);
    const systems = groupBySystem(machines, loaded.manifest.threads);
    setSpanModels({ models: loaded.models, batchSizes: [loaded.manifest.batch_size] });
    setSpanFramework(systems[0].system);
    const edges = { store, signal };
    if (placement === 'each') {
      // By name, so that the order does not depend on that of the agents.
      const sorted = systems.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      const limited = sorted.map((system) => withAgents(system, most));
      yield* withNotes(evaluateEach(evaluation, request, limited, { ...edges, most }), notes);
      return;
    }
    const system = withAgents(findLargest(systems), most);
    if (most > 1) yield note('info', describeAgents(system, most));
    yield* withNotes(evaluateOn(evaluation, request, system, edges), notes);
  } finally {
    await Promise.all(machines.map(({ agent }) => agent.close()));
  }
}

/**
 * Never throws: the last event says how it ended. Ends soon after the signal aborts, even if the plugin does not stop.
 */
export async function* runEvaluation(
  evaluation: Evaluation,
  run: Run<Submission>,
  tools: PluginTools,
  signal: AbortSignal,
): AsyncGenerator<PluginEvent> {
  try {
    yield* runSubmission(evaluation, run, tools, signal);
  } catch (error) {
    if (signal.aborted) yield { kind: 'cancelled' };
    else yield toFailure(error);
  }
}
