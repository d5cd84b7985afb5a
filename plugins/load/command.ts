import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  counted,
  addAgentOptions,
  addInputOptions,
  addQuietOption,
  addRuntimeOptions,
  addStoreOption,
  addTableOptions,
  addThreadsOption,
  addWideOption,
  type AgentOptions,
  assertEnoughCores,
  BOUND_EXAMPLES,
  parseBound,
  COMMAND_DEFAULTS,
  type BenchmarkAgent,
  type CommandHost,
  DISPATCHES,
  PlatformError,
  durationOption,
  identifySystem,
  type InputOptions,
  listOption,
  loadModels,
  setSpanModels,
  setSpanFramework,
  noteTrace,
  numberOption,
  type OutputOptions,
  ownValue,
  prepareOutputs,
  buildRunOptions,
  runsOn,
  parseRuntime,
  type RuntimeAxes,
  writeShown,
  measuringContext,
  setMeasuringExit,
} from '../../src/plugin-api.js';
import { readArrivals } from './arrivals.js';
import { readGenerations } from './generation.js';
import { loadPlot } from './load-plot.js';
import { interruptedText, shownLoad } from './load-table.js';
import { runLoad } from './run-load.js';
import { Samples } from './samples.js';
import type { DeploymentAddress } from './serve.js';
import { BATCH_QUERIES, CLOSED_QUERIES } from './trial-length.js';
import { checkSettings, fields, type LoadSettings, OPTIONS, SCENARIOS, parseValues } from './settings.js';

interface LoadOptions extends InputOptions, AgentOptions, OutputOptions, RuntimeAxes {
  readonly arrivals?: string;
  readonly threads?: number;
  readonly predict?: boolean;
  readonly validate?: boolean;
  readonly agents?: readonly string[];
  readonly deployment?: string;
  readonly generation?: string;
  readonly store?: string;
  readonly wide?: boolean;
}

function boundOption(text: string): string {
  if (parseBound(text) !== undefined) return text;
  throw new InvalidArgumentError(`expected a latency and a percentile, as in ${BOUND_EXAMPLES}`);
}

async function parseSettings(options: LoadOptions, hasModels: boolean): Promise<LoadSettings> {
  const { predict = false, validate = false } = options;
  const given = Object.entries(OPTIONS).map(([key, option]) => {
    return [key, ownValue<unknown>({ ...options }, new Option(option).attributeName())] as const;
  });
  const settings = parseValues({
    ...Object.fromEntries(given),
    arrivals: options.arrivals === undefined ? undefined : await readArrivals(options.arrivals),
    measure: validate || !predict,
    predict: predict || validate,
  });
  const { agents, deployment } = options;
  const isDeployed = deployment !== undefined;
  checkSettings(settings, { agents: isDeployed ? Infinity : (agents?.length ?? 1), isDeployed, hasModels });
  return settings;
}

async function connectAgents({ agent, agents, framework }: LoadOptions, host: CommandHost): Promise<BenchmarkAgent> {
  if (agents === undefined) return host.connect(agent, framework);
  if (agent !== undefined)
    throw new PlatformError('usage', '--agent and --agents exclude each other; name all agents in --agents');
  const all: BenchmarkAgent[] = [];
  for (const address of agents) all.push(await host.connect(address, framework));
  const [first, ...others] = all;
  if (first === undefined) throw new PlatformError('usage', '--agents needs an address');
  const fingerprintOf = ({ description }: BenchmarkAgent): string => {
    return identifySystem(description, buildRunOptions(1, description)).fingerprint;
  };
  const other = others.findIndex((one) => fingerprintOf(one) !== fingerprintOf(first));
  if (other >= 0) {
    const which = `the agents at ${agents[0] ?? ''} and ${agents[other + 1] ?? ''} are of different systems`;
    throw new PlatformError('unsupported', `${which}; name agents of one system`);
  }
  return { ...first, reaches: (...needed) => all.flatMap((one) => one.reaches?.(...needed) ?? []) };
}

const DEPLOYMENT = /^(oip|predict):\/\/([^/,]+:\d+(?:,[^/,]+:\d+)*)\/([^:/]+)(?::([^:/]+))?$/;

interface Deployed {
  readonly deployment?: DeploymentAddress;
  /** The platform's own server, whose system is that of the results. */
  readonly agent?: BenchmarkAgent | undefined;
}

async function connectDeployment(options: LoadOptions, host: CommandHost): Promise<Deployed> {
  if (options.deployment === undefined) return {};
  const [, kind, hosts = '', name = '', version = ''] = DEPLOYMENT.exec(options.deployment) ?? [];
  const addresses = hosts.split(',');
  const model = { name, version };
  const url = options.deployment;
  if (kind === 'oip') {
    return { deployment: { kind, model, url, reaches: addresses.map((address) => ({ address, options: {} })) } };
  }
  const agents: BenchmarkAgent[] = [];
  for (const address of addresses) agents.push(await host.connect(address));
  const reaches = agents.flatMap((agent) => agent.reaches?.() ?? []);
  return { deployment: { kind: 'predict', model, url, reaches }, agent: agents[0] };
}

function deploymentOption(text: string): string {
  if (DEPLOYMENT.test(text)) return text;
  throw new InvalidArgumentError('expected oip://HOST:PORT/MODEL or predict://HOST:PORT/MODEL[:VERSION]');
}

function listArguments(options: LoadOptions): readonly string[] {
  const { store, agents, agent = agents?.[0], framework, dimension = new Map(), session = new Map() } = options;
  const words: readonly (readonly [option: string, value: string | number | undefined])[] = [
    ['--store', store],
    ['--agent', agent],
    ['--framework', framework],
    ['--optimization-level', options.optimizationLevel?.[0]],
    ['--execution-mode', options.executionMode?.[0]],
    ['--inter-op-threads', options.interOpThreads?.[0]],
    ...Array.from(session, ([key, [value]]) => ['--session', `${key}=${value}`] as const),
    ...Array.from(dimension, ([name, size]) => ['--dimension', `${name}=${size}`] as const),
  ];
  const given = words.flatMap(([option, value]) => (value === undefined ? [] : [option, String(value)]));
  return options.allowVersion ? [...given, '--allow-version'] : given;
}

async function load(references: readonly string[], options: LoadOptions, host: CommandHost): Promise<void> {
  if (references.length === 0 && options.generation === undefined) {
    throw new PlatformError('usage', 'name a model, or a report with generated texts (--generation FILE)');
  }
  if (references.length === 0 && options.deployment !== undefined) {
    throw new PlatformError('usage', 'generated texts are sent to no server (--deployment); name the model there');
  }
  const settings = await parseSettings(options, references.length > 0);
  const generations = options.generation === undefined ? [] : await readGenerations(options.generation);
  if (generations.length > 0 && settings.scenario !== 'server') {
    const problem = `the scenario ${settings.scenario} does not use generated texts (--generation)`;
    throw new PlatformError('usage', `${problem}; they are for --scenario server`);
  }
  if (options.samples !== undefined && (references.length === 0 || !settings.measure)) {
    throw new PlatformError('usage', 'a prediction has no queries to write (--samples); measure as well (--validate)');
  }
  const outputs = await prepareOutputs(options);
  const { deployment, agent: deployed } = await connectDeployment(options, host);
  const isNamed = [options.agent, options.agents, options.framework].some((one) => one !== undefined);
  const agent = deployed === undefined || isNamed ? await connectAgents(options, host) : deployed;
  const threads = options.threads ?? COMMAND_DEFAULTS.threads;
  const runtime = parseRuntime(options);
  assertEnoughCores(buildRunOptions(threads, agent.description, runtime), agent.description);
  const { quiet } = outputs;
  const loadedBatch = settings.batches[0] ?? 1;
  const wanted = { ...options, batch: loadedBatch, quiet, runsOn: runsOn(agent, options) };
  const unusable: { model: string; reason: string }[] = [];
  const models = await loadModels(references, wanted, host, ({ name, reason }) => {
    host.warn(`warning: ${name}: ${reason}`);
    unusable.push({ model: name, reason });
  });
  const store = await host.openStore(options.store);
  const progress = host.progress(quiet);
  setSpanModels({ models, batchSizes: settings.batches });
  setSpanFramework(identifySystem(agent.description, buildRunOptions(threads, agent.description, runtime)));
  noteTrace(progress);
  const samples = new Samples();
  const run = {
    settings,
    threads,
    runtime,
    loadedBatch,
    deployment,
    generations,
    given: listArguments(agent === deployed ? { ...options, agent: deployment?.reaches[0]?.address ?? '' } : options),
    ...(options.samples && { onSample: samples.add }),
  };
  const context = measuringContext({ agent, store }, progress, host);
  const { result, partial } = await runLoad(models, run, context).finally(() => progress.stop());
  const whole = { ...result, unusable: [...unusable, ...result.unusable] };
  const shown = {
    ...shownLoad(whole, { wide: options.wide ?? false }),
    pictures: { svg: () => loadPlot(whole) },
    samples: () => samples.text(),
  };
  await writeShown(shown, { ...outputs, quiet: quiet || (host.signal.aborted && whole.rows.length === 0) }, host);
  const { left } = samples;
  if (left > 0)
    host.warn(
      `warning: --samples: ${counted(left, 'query is', 'queries are')} left out, because there are too many; ask for fewer (--queries)`,
    );
  setMeasuringExit(host, { isPartial: partial || unusable.length > 0, interrupted: interruptedText(whole) });
}

function addScenarioOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--scenario <name>',
        'single: one query after another; clients: some at a time; server: at random moments; batch: everything at once; replay: by a file',
      )
        .choices(SCENARIOS)
        .default('single'),
    )
    .option('--rate <n,...>', 'queries per second (server)', listOption(numberOption(fields.rate)))
    .option(
      '--bound <latency@percentile>',
      'latency that a share of the queries must not exceed, as in 20ms@p99; without --rate, the largest rate within it is searched',
      boundOption,
    )
    .option('--predict', 'predict from the estimates in the store, without running the model')
    .option('--validate', 'measure and predict, and compare')
    .option(
      '--clients <k,...>',
      'queries that are outstanding at a time (clients)',
      listOption(numberOption(fields.clients)),
    )
    .option('--think <duration>', "time from an answer to the client's next query, as in 5ms (clients)", durationOption)
    .option('--batch <n,...>', 'samples of a query (default: 1)', listOption(numberOption(fields.samples)))
    .option(
      '--batch-limit <n>',
      'most samples of one run; queries that wait join a run up to it',
      numberOption(fields.samples),
    )
    .option(
      '--max-wait <duration>',
      'how long a query waits for others while the model is free, as in 2ms',
      durationOption,
    )
    .option('--arrivals <file>', 'CSV with ms, or ms,batch, in each line (replay)')
    .option('--scale <factor>', 'factor of the times of --arrivals', numberOption(fields.scale))
    .option(
      '--queries <n>',
      `least number of queries of a trial (default: as many as the percentile of the bound needs; without one, as p99 needs for server, ${CLOSED_QUERIES} for single and clients, ${BATCH_QUERIES} for batch)`,
      numberOption(fields.queries),
    )
    .option(
      '--duration <duration>',
      'least length of a trial, as in 60s (default: 10s, or 10,000 queries, where the largest rate is searched)',
      durationOption,
    )
    .option('--seed <n>', 'of the schedule (default: 1)', numberOption(fields.seed))
    .option(
      '--searches <n>',
      'how often the largest rate is searched, each time in other processes and with other seeds (default: 1)',
      numberOption(fields.searches),
    )
    .option(
      '--agents <host:port,...>',
      'agents of one system that share the queries',
      listOption((text) => text),
    )
    .addOption(
      new Option('--dispatch <how>', 'how several agents share them: turns, random, or one common queue')
        .choices(DISPATCHES)
        .default('turns'),
    )
    .option(
      '--deployment <url>',
      'send the queries to a server that has the model: oip://HOST:PORT/MODEL (Open Inference Protocol) or predict://HOST:PORT/MODEL[:VERSION] (an agent of this platform)',
      deploymentOption,
    )
    .option(
      '--generation <file>',
      'report of dlbricks with generated texts: predict the time to the first token under load (server)',
    )
    .option('--samples <file>', 'write every query that was sent as a JSON line, with times in microseconds');
}

export function registerLoad(program: Command, host: CommandHost): void {
  const command = program
    .command('load')
    .description('Put models under load: latency by rate, the largest rate within a bound, throughput by batch')
    .argument('[model...]', 'model manifest (.yml), .onnx file or zoo:NAME');
  addScenarioOptions(command);
  addInputOptions(addRuntimeOptions(addThreadsOption(addAgentOptions(addStoreOption(command)))));
  addQuietOption(addWideOption(addTableOptions(command, 'trial')))
    .option('--export-svg <file>', 'write latency over the rate, or throughput over the batch, as a picture')
    .addHelpText(
      'after',
      `
Latency counts from the moment at which a query is scheduled, not from the
moment at which it is sent: a query that waits in a queue is late. The schedule
is made before the run from --seed. A process of its own sends the queries;
give the model one thread less than the machine has cores.

--predict needs estimates of 'dlbricks run' for the same model, batch and
threads in the store. See docs/load.md.

Examples:
  mlmodelscope load zoo:resnet18 --threads 1
  mlmodelscope load zoo:resnet18 --scenario server --rate 10,20,30
  mlmodelscope load zoo:resnet18 --scenario server --bound 100ms@p99
  mlmodelscope load zoo:resnet18 --scenario server --bound 100ms@p99 --predict
  mlmodelscope load zoo:resnet18 --scenario batch --batch 1,2,4,8`,
    )
    .action((references: string[], options: LoadOptions) => load(references, options, host));
}
