import {
  type AgentOptions,
  askedProtocol,
  assertEnoughCores,
  type BenchmarkAgent,
  type Both,
  COMMAND_DEFAULTS,
  type CommandHost,
  counted,
  DEFAULT_LIMITS,
  type EvaluationEvent,
  EXIT_INTERRUPTED,
  identifySystem,
  idleSettings,
  type InputOptions,
  type KnownResults,
  type LoadedModel,
  loadModels,
  measurePaired,
  setSpanModels,
  type OutputOptions,
  PlatformError,
  type Protocol,
  type ProtocolOptions,
  buildRunOptions,
  runsOn,
  showEvent,
} from '../../../src/plugin-api.js';
import { prepareOrRefuse } from '../bricks/prepare-model.js';
import { compareRounds, pairTasks, type PreparedSide } from '../compare/compare-rounds.js';
import { comparisonDocument } from '../compare/comparison-result.js';
import type { ComparisonDocument } from '../compare/comparison-schema.js';
import { placeKey, type Side, parseSide } from '../compare/side.js';
import { prepareModels } from './prepare-models.js';

export interface SidesOptions
  extends InputOptions, ProtocolOptions, Pick<AgentOptions, 'allowVersion'>, Pick<OutputOptions, 'quiet'> {
  readonly batch?: number;
  readonly whole?: boolean;
  readonly rounds?: number;
}

/** An even number, so that each side is first in half of the rounds. */
export const DEFAULT_ROUNDS = 20;

/** Many short sessions are worth more than a few long ones: processes differ more than the runs of one do. */
export const PROTOCOL_OF_ROUND: Protocol = { warmupRuns: 1, runs: 5, minRuns: 3, timeBudgetMs: 500 };

async function connectAgents([first, second]: Both<Side>, host: CommandHost): Promise<Both<BenchmarkAgent>> {
  const connect = ({ agent, framework, runtime }: Side): Promise<BenchmarkAgent> => {
    return host.connect(agent, framework, runtime?.folder);
  };
  const one = await connect(first);
  const other = placeKey(first) === placeKey(second) ? one : await connect(second);
  // With the weights of files on one side alone, the two would run different models.
  if ((one.offerWeights === undefined) === (other.offerWeights === undefined)) return [one, other];
  const withoutFiles = ({ offerWeights: _, ...agent }: BenchmarkAgent): BenchmarkAgent => agent;
  return [withoutFiles(one), withoutFiles(other)];
}

/** Connects the agents, and loads the models for each. @throws PlatformError `usage` for a side that is none */
export async function openSides(
  [before, after]: Both<string>,
  references: readonly string[],
  options: InputOptions & Pick<SidesOptions, 'batch' | 'quiet' | 'allowVersion'>,
  host: CommandHost,
) {
  const sides = [parseSide(before), parseSide(after)] as const;
  const agents = await connectAgents(sides, host);
  const load = (agent: BenchmarkAgent) => loadModels(references, { ...options, runsOn: runsOn(agent, options) }, host);
  const models = await load(agents[0]);
  const others = agents[0] === agents[1] ? models : await load(agents[1]);
  const open = (at: 0 | 1, loaded: readonly LoadedModel[]) => {
    const side = sides[at];
    const agent = agents[at];
    const runOptions = buildRunOptions(side.threads, agent.description, side.settings);
    assertEnoughCores(runOptions, agent.description);
    return { side, agent, runOptions, system: identifySystem(agent.description, runOptions), loaded };
  };
  return [open(0, models), open(1, others)] as const;
}

/** The kernels of a side's models, to be measured in rounds. */
async function prepareSide(
  { side, loaded, runOptions, ...placed }: Awaited<ReturnType<typeof openSides>>[number],
  options: SidesOptions,
  host: CommandHost,
): Promise<PreparedSide> {
  for (const message of idleSettings(side.settings)) host.warn(`warning: ${side.text}: ${message}`);
  const preparing = { agent: placed.agent, prepare: prepareOrRefuse, quiet: options.quiet };
  const settings = { runOptions, protocol: askedProtocol(options, PROTOCOL_OF_ROUND), limits: DEFAULT_LIMITS };
  return { ...placed, settings, models: await prepareModels(loaded, { cut: 'kernel', runOptions }, preparing, host) };
}

export type ComparedSides = Awaited<ReturnType<typeof compareSides>>;

/** @throws PlatformError `usage` for a side that is none, `cancelled` where no round was completed */
export async function compareSides(
  texts: Both<string>,
  references: readonly string[],
  options: SidesOptions,
  host: CommandHost,
) {
  const opened = await openSides(texts, references, options, host);
  const [{ agent, loaded }, { agent: other }] = opened;
  const { batch = COMMAND_DEFAULTS.batch, whole: isWhole = false, rounds = DEFAULT_ROUNDS } = options;
  setSpanModels({ models: loaded, batchSizes: [batch] });
  const all = [await prepareSide(opened[0], options, host), await prepareSide(opened[1], options, host)] as const;
  const reasons = {
    host: 'two sides',
    stack: 'two sides; aspects has what differs',
    ...(!isWhole && { weights: 'no whole model was run' }),
  };
  const origin = { models: loaded, agent, protocol: all[0].settings.protocol, reasons };
  const compare = async (sides: Both<PreparedSide>): Promise<ComparisonDocument> => {
    const taken: Both<KnownResults>[] = [];
    const progress = host.progress(options.quiet ?? false);
    const onEvent = (event: EvaluationEvent): void => showEvent(event, progress);
    try {
      const measured = { rounds, signal: host.signal, onEvent };
      for await (const round of measurePaired([agent, other], pairTasks(sides, { isWhole }), measured))
        taken.push(round);
    } finally {
      progress.stop();
    }
    if (host.signal.aborted) {
      if (taken.length === 0) throw new PlatformError('cancelled', 'interrupted before the first round was complete');
      host.warn(`interrupted; compared: ${counted(taken.length, 'complete round')} of ${rounds}`);
      host.setExitCode(EXIT_INTERRUPTED);
    }
    const [before, after] = texts;
    return comparisonDocument(compareRounds(sides, taken, { batch, isWhole }), { before, after, origin });
  };
  const only = (names: readonly string[], side: PreparedSide): PreparedSide => {
    return { ...side, models: side.models.filter(({ recipe }) => names.includes(recipe.name)) };
  };
  return {
    document: await compare(all),
    sides: all,
    again: (names: readonly string[]) => compare([only(names, all[0]), only(names, all[1])]),
  };
}
