import { type Command, InvalidArgumentError, Option } from 'commander';
import { randomUUID } from 'node:crypto';
import { numberIn } from '../../base/bounded-number.js';
import { PlatformError } from '../../base/errors.js';
import {
  addAllowVersionOption,
  addQuietOption,
  addTableOptions,
  addWideOption,
  type OutputOptions,
  addLogOption,
  type LogOption,
} from '../../command/options.js';
import { prepareOutputs } from '../../command/outputs.js';
import { connectEvaluations, type EvaluationClient } from '../../evaluation/client/evaluation-client.js';
import type { Achieved } from '../../evaluation/evaluation.js';
import type { Plugin, Progress } from '../../evaluation/plugin.js';
import { submissionOf } from '../../evaluation/submission.js';
import { setSpanModels, noteTrace } from '../../evaluation/span-attributes.js';
import { agentsField, mostAgents, type Placement, PLACEMENTS, type AgentChoice } from '../../manifest/agents.js';
import { takenBy } from '../../manifest/load.js';
import { pluginSettings } from '../../manifest/plugin-settings.js';
import { requireLoggable, type RunToLog, runtimeIn, writeLog } from '../../reference-log/write-log.js';
import type { LoadedEvaluation } from '../../registry/load-evaluation.js';
import { FRAMEWORK_NAMES, type FrameworkName } from '../../predictor/frameworks.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import type { RunningServer } from '../../server/server.js';
import { serverOption, withoutUnwantedServer } from '../address.js';
import { type EstimateEvent, type EvaluationOutcome, leave, parseResult, showToEnd } from '../evaluations.js';
import type { OwnedHost } from '../host.js';
import { findEvaluation, showOutcome } from '../show-outcome.js';
import { storeDescription } from '../../command/store-description.js';

interface EvaluateFlags extends OutputOptions, LogOption {
  readonly server?: HostPort;
  readonly detach?: true;
  readonly store?: string;
  readonly framework?: FrameworkName;
  readonly agents?: number;
  readonly placement?: Placement;
  readonly allowVersion?: true;
  readonly json?: true;
  readonly wide?: true;
}

/** Noise warnings name this option, so users expect it here as well. */
function refuseRemeasure(): never {
  throw new InvalidArgumentError(
    "write settings: { remeasure: all } into the manifest; only 'mlmodelscope dlbricks run' and 'mlmodelscope latency' have --remeasure",
  );
}

function agentsOption(text: string): number {
  const given = text === 'one' || text === 'all' ? text : numberIn(text);
  const { data, error } = agentsField.safeParse(given);
  if (data !== undefined) return mostAgents(data);
  throw new InvalidArgumentError(`expected ${error.issues[0]?.message}`);
}

function askedAgents({ agents, placement }: EvaluateFlags, manifest: AgentChoice): AgentChoice | undefined {
  if (agents === undefined && placement === undefined) return undefined;
  return { most: agents ?? manifest.most, placement: placement ?? manifest.placement };
}

function checkFlags({ server, detach, store, framework, log }: EvaluateFlags): void {
  const wrong = (problem: string): PlatformError => new PlatformError('usage', problem);
  if (server === undefined && detach !== undefined) {
    throw wrong('--detach leaves an evaluation to a server; name it with --server');
  }
  if (server === undefined) return;
  if (log !== undefined) throw wrong('--log is for evaluations without a server, because it runs the models here');
  if (store !== undefined) throw wrong('--store is for evaluations without a server; the one at --server has its own');
  if (framework !== undefined)
    throw wrong('--framework is for evaluations without a server; for a server, the manifest names it under software');
}

/** @throws PlatformError `usage` for a model, which users easily give instead of an evaluation manifest */
function refuseModel(path: string): void {
  if (!path.startsWith('zoo:') && !path.endsWith('.onnx')) return;
  throw new PlatformError('usage', `${path}: expected an evaluation manifest (.yml), found a model${takenBy('model')}`);
}

/** Starts the platform in this process. Its code is loaded only where no server is named. */
async function platformHere(flags: EvaluateFlags, plugins: readonly Plugin[], host: OwnedHost): Promise<RunningServer> {
  const { store, framework } = flags;
  const { startLocalPlatform } = await import('../local-platform.js');
  return startLocalPlatform({ store: await host.openStore(store), plugins, framework });
}

function toAchieved({ model, latencyMs, lowMs, highMs }: EstimateEvent): [string, Achieved] {
  return [model, { latency_ms: latencyMs ?? null, low_ms: lowMs ?? null, high_ms: highMs ?? null, whole_ms: null }];
}

/** Undefined without --log. The platform runs models without the weights of their files. */
async function logWriter(
  { log, store, framework, placement }: EvaluateFlags,
  loaded: LoadedEvaluation,
  plugins: readonly Plugin[],
  host: OwnedHost,
): Promise<((outcome: EvaluationOutcome) => Promise<void>) | undefined> {
  if (log === undefined) return undefined;
  const { manifest, identities, protocol, limits, requirements } = loaded;
  const evaluation = findEvaluation(manifest.plugin, plugins);
  if (evaluation === undefined)
    throw new PlatformError('usage', `--log: the plugin ${manifest.plugin} is not installed here`);
  if ((placement ?? requirements.agents.placement) === 'each') {
    throw new PlatformError('usage', '--log is for one system; leave placement: each out');
  }
  const models = loaded.models.map((model) => ({ ...model, weights: undefined }));
  await requireLoggable(log, models, undefined);
  const request = { evaluation: { ...loaded, models }, settings: loaded.settingsOf(evaluation.settings) };
  return async ({ estimates, done }) => {
    const agent = await host.connect(undefined, framework);
    const cells = evaluation.cells?.(request, agent.description) ?? [request];
    const achieved = evaluation.achieved?.(parseResult(done)) ?? [new Map(estimates.map(toAchieved))];
    const runs = cells.map(({ evaluation: { manifest: own, models }, settings }, index): RunToLog => {
      const { name, plugin, batch_size: batch, threads } = own;
      return {
        ...{ plugin, evaluation: name, identities, models, batch, threads, protocol, limits },
        settings: settings as object,
        runtime: runtimeIn(settings),
        achieved: (model) => achieved[index]?.get(model.name),
      };
    });
    const place = { agent, store: await host.openStore(store), signal: host.signal };
    await writeLog(log, { command: 'evaluate', runs, warnings: [], ...place });
  };
}

/** An interruption ends an evaluation of this process, but not an evaluation of a server. */
async function evaluateWith(
  client: EvaluationClient,
  path: string,
  flags: EvaluateFlags,
  plugins: readonly Plugin[],
  host: OwnedHost,
): Promise<void> {
  const outputs = await prepareOutputs(flags);
  const progress: Progress = host.progress(flags.quiet ?? false);
  const { signal } = host;
  const { loaded, submission } = await submissionOf(path, {
    signal,
    allowVersion: flags.allowVersion,
    check: ({ plugin }, _, document) => {
      // A server may have another version of the plugin.
      const evaluation = flags.server === undefined ? findEvaluation(plugin, plugins) : undefined;
      if (evaluation !== undefined) pluginSettings(document, evaluation.settings);
    },
    onModel: (name, done, total) => progress.step('loading', done, total, name),
  }).finally(() => progress.stop());
  setSpanModels({ models: loaded.models, batchSizes: [loaded.manifest.batch_size] });
  noteTrace(progress);
  const writing = await logWriter(flags, loaded, plugins, host);
  const id = randomUUID();
  const agents = askedAgents(flags, loaded.requirements.agents);
  const { plugin } = await client.submit(id, { ...submission, agents }, signal);
  if (flags.detach !== undefined) {
    host.print(`${id}\n`);
    return;
  }
  if (flags.server !== undefined) progress.note(`evaluation ${id}`);
  try {
    const outcome = await showToEnd(client.follow(id, 0, signal), progress);
    const { json = false, wide = false } = flags;
    await writing?.(outcome);
    await showOutcome(outcome, { plugin, plugins, outputs, json, wide }, host);
  } catch (error) {
    if (!signal.aborted) throw error;
    if (flags.server !== undefined) leave(id, formatHostPort(flags.server), host);
    else {
      await client.cancel(id);
      throw new PlatformError('cancelled', 'interrupted; everything measured so far is kept');
    }
  }
}

export function registerEvaluateCommand(program: Command, host: OwnedHost, plugins: readonly Plugin[]): void {
  const command = program
    .command('evaluate')
    .description('Submit an evaluation manifest, show its progress, and print its result')
    .argument('<manifest>', 'evaluation manifest (.yml)')
    .addOption(serverOption('server that runs the evaluation (default: this process runs it)'))
    .addOption(new Option('--remeasure <which>').argParser(refuseRemeasure).hideHelp())
    .option(
      '--agents <one|all|n>',
      'largest number of agents of one system that share the work (default: as the manifest says)',
      agentsOption,
    )
    .addOption(
      new Option(
        '--placement <where>',
        'spread: on one system; each: on every system, with estimates for each (default: as the manifest says)',
      ).choices(PLACEMENTS),
    )
    .option('--detach', 'only submit, and print the id')
    .option('--json', 'print the result document instead of the table')
    .option('--store <uri>', `without a server, ${storeDescription('measurements')}`)
    .addOption(
      new Option('--framework <name>', 'framework that runs the models, without a server').choices(FRAMEWORK_NAMES),
    );
  addQuietOption(addWideOption(addTableOptions(addLogOption(addAllowVersionOption(command)))))
    .addHelpText(
      'after',
      `
The command sends manifests and graphs, and no weights. After Ctrl-C, a server
continues the evaluation.

Examples:
  mlmodelscope evaluate manifests/evaluations/quickstart.yml
  mlmodelscope evaluate evaluation.yml --server 127.0.0.1:7080
  mlmodelscope evaluate evaluation.yml --server 127.0.0.1:7080 --detach
  mlmodelscope evaluate evaluation.yml --server 127.0.0.1:7080 --agents all
  mlmodelscope evaluate evaluation.yml --server 127.0.0.1:7080 --placement each`,
    )
    .action(async (path: string, given: EvaluateFlags, command: Command) => {
      const isLocal = given.store !== undefined || given.framework !== undefined;
      const flags = withoutUnwantedServer(given, isLocal, command);
      checkFlags(flags);
      refuseModel(path);
      const { server } = flags;
      const local = server === undefined ? await platformHere(flags, plugins, host) : undefined;
      const address = local?.address ?? formatHostPort(server ?? { host: '', port: 0 });
      const client = connectEvaluations(address, local === undefined ? { security: host.security.client } : {});
      try {
        await evaluateWith(client, path, flags, plugins, host);
      } finally {
        client.close();
        await local?.close();
      }
    });
}
