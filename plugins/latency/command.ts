import { type Command, InvalidArgumentError } from 'commander';
import {
  addAgentOptions,
  addLogOption,
  addProtocolOptions,
  addQuietOption,
  addReuseOptions,
  addStoreOption,
  addSweepInputOptions,
  addSweepOptions,
  addTableOptions,
  addWideOption,
  type AgentOptions,
  askedProtocol,
  assertEnoughCores,
  checkInputs,
  COMMAND_DEFAULTS,
  type CommandHost,
  DEFAULT_LIMITS,
  identifySystem,
  loadBatches,
  latencyOfOutcome,
  type LoadedModel,
  type LogOption,
  noteTrace,
  numberIn,
  type OutputOptions,
  prepareOutputs,
  type ProtocolOptions,
  remeasureAsked,
  requireLoggable,
  type ReuseOptions,
  buildRunOptions,
  combineRuntimes,
  setSpanFramework,
  setSpanModels,
  runtimeText,
  runsOn,
  type SweepInputOptions,
  type SweepOptions,
  writeLog,
  writeShown,
  measuringContext,
  setMeasuringExit,
} from '../../src/plugin-api.js';
import { DEFAULT_PERCENTILES, percentilesSchema } from './evaluation.js';
import { isPartial, type LatencyRow, buildLatencyResult } from './latency-result.js';
import { shownLatencies } from './latency-table.js';
import { timeModels } from './time-models.js';

interface LatencyOptions
  extends SweepOptions, SweepInputOptions, ProtocolOptions, AgentOptions, OutputOptions, ReuseOptions, LogOption {
  readonly percentiles?: readonly number[];
  readonly store?: string;
  readonly wide?: boolean;
}

function percentilesOption(text: string): readonly number[] {
  const values = [...new Set(text.split(',').map((part) => numberIn(part.trim())))];
  const { data, error } = percentilesSchema.safeParse(values);
  if (data !== undefined) return data;
  throw new InvalidArgumentError(`expected ${error?.issues[0]?.message}, as in 50,90,99.9`);
}

async function timeAndShow(references: readonly string[], options: LatencyOptions, host: CommandHost): Promise<void> {
  const outputs = await prepareOutputs(options);
  const agent = await host.connect(options.agent, options.framework);
  const runtimes = combineRuntimes(options);
  const cells = (options.threads ?? [COMMAND_DEFAULTS.threads]).flatMap((threads) => {
    return runtimes.map((runtime) => ({ threads, runtime }));
  });
  for (const { threads, runtime } of cells) {
    assertEnoughCores(buildRunOptions(threads, agent.description, runtime), agent.description);
  }
  const batches = await loadBatches(
    {
      references,
      batches: options.batch ?? [COMMAND_DEFAULTS.batch],
      inputs: options,
      quiet: outputs.quiet,
      runsOn: runsOn(agent, options),
      onUnusable: ({ name, reason }) => host.warn(`warning: ${name}: ${reason}`),
    },
    host,
  );
  const unusable = batches.flatMap(({ batch, unusable: ofBatch }) =>
    ofBatch.flatMap(({ name: model, reason }) =>
      cells.map(({ threads, runtime }): LatencyRow => {
        return { model, batch, dimensions: '', threads, settings: runtimeText(runtime), reason };
      }),
    ),
  );
  const all = batches.flatMap(({ models }) => models);
  if (unusable.length === 0) checkInputs(all, options);
  await requireLoggable(options.log, all, options.input);
  // The rows of a model are next to each other.
  const names = new Set(all.map(({ name }) => name));
  const asked = [...names].flatMap((name) =>
    batches.flatMap(({ batch, models }) =>
      models
        .filter((loaded) => loaded.name === name)
        .flatMap((loaded) => cells.map((cell) => ({ loaded, batch, ...cell }))),
    ),
  );
  const store = await host.openStore(options.store);
  const progress = host.progress(outputs.quiet);
  setSpanModels({ models: asked.map(({ loaded }) => loaded), batchSizes: asked.map(({ batch }) => batch) });
  const [{ threads, runtime } = { threads: COMMAND_DEFAULTS.threads, runtime: runtimes[0] }] = cells;
  const system = identifySystem(agent.description, buildRunOptions(threads, agent.description, runtime));
  setSpanFramework(system);
  noteTrace(progress);
  const settings = {
    protocol: askedProtocol(options),
    limits: DEFAULT_LIMITS,
    remeasure: remeasureAsked(options.remeasure),
  };
  const context = measuringContext({ agent, store }, progress, host);
  const timed = await timeModels(asked, settings, context).finally(() => progress.stop());
  const result = buildLatencyResult(timed, system, options.percentiles ?? DEFAULT_PERCENTILES, unusable, {
    agent,
    protocol: settings.protocol,
  });
  if (options.log !== undefined && !host.signal.aborted) {
    const runs = batches.flatMap(({ batch, models }) =>
      cells.map(({ threads, runtime }) => ({
        ...{ plugin: 'latency', models, batch, threads, runtime, protocol: settings.protocol, limits: settings.limits },
        settings: { percentiles: options.percentiles, ...runtime },
        achieved: (model: LoadedModel) => {
          const { measurement } =
            timed.find((one) => one.loaded === model && one.threads === threads && one.runtime === runtime) ?? {};
          const ms = latencyOfOutcome(measurement?.outcome);
          return { latency_ms: ms, low_ms: null, high_ms: null, whole_ms: null, measurement };
        },
      })),
    );
    const { warnings } = result;
    await writeLog(options.log, { command: 'latency', runs, agent, warnings, store, signal: host.signal });
  }
  const isEmpty = host.signal.aborted && timed.every(({ measurement }) => measurement === undefined);
  const shown = shownLatencies(result, { wide: options.wide ?? false });
  await writeShown(shown, { ...outputs, quiet: outputs.quiet || isEmpty }, host);
  setMeasuringExit(host, { isPartial: isPartial(result), remeasure: settings.remeasure });
}

export function registerLatency(program: Command, host: CommandHost): void {
  const command = program
    .command('latency')
    .description('Time whole models, and show percentiles of their runs')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME');
  const withOutputs = addQuietOption(addWideOption(addTableOptions(addAgentOptions(addStoreOption(command)))));
  addReuseOptions(addLogOption(addProtocolOptions(addSweepInputOptions(addSweepOptions(withOutputs)))))
    .option(
      '--percentiles <p,...>',
      `percentiles of the runs (default: ${DEFAULT_PERCENTILES.join(',')})`,
      percentilesOption,
    )
    .addHelpText(
      'after',
      `
Each model is timed once for each size of the batch, each combination of sizes
of dimensions, and each number of threads.
Times in the store are not taken again, and the table says of when they are;
--fresh takes them again. 'mlmodelscope dlbricks run MODEL...'
estimates models without running them whole.

Examples:
  mlmodelscope latency zoo:resnet18 my-model.onnx
  mlmodelscope latency zoo:resnet18 --batch 1,2,4 --threads 1,2
  mlmodelscope latency zoo:bert_base --dimension sequence=64,128
  mlmodelscope latency *.onnx --percentiles 50,99.9 --export-csv latency.csv`,
    )
    .action((references: string[], options: LatencyOptions) => timeAndShow(references, options, host));
}
