import type { Command } from 'commander';
import {
  addAgentOptions,
  addBatchOption,
  addInputOptions,
  addProtocolOptions,
  addQuietOption,
  addStoreOption,
  addTableOptions,
  addThreadsOption,
  askedProtocol,
  COMMAND_DEFAULTS,
  type CommandHost,
  DEFAULT_LIMITS,
  graphDot,
  graphSvg,
  type InputOptions,
  isOfMachine,
  loadModels,
  messageOf,
  prepareOutputs,
  type ProtocolOptions,
  buildProvenance,
  runsOn,
  shownTable,
  wholeNumberOption,
  writeShown,
  measuringContext,
  setMeasuringExit,
} from '../../../src/plugin-api.js';
import { adviceDocument, adviceTable, adviceVerdict, drawnAdvice } from '../advise/advice-result.js';
import { type Advice, adviseOn } from '../advise/advise.js';
import { MAX_ROUNDS } from '../advise/measure-variants.js';
import type { PlaceOptions } from './options.js';

interface AdviseOptions extends PlaceOptions, ProtocolOptions, InputOptions {
  readonly batch?: number;
  readonly threads?: number;
  readonly rounds: number;
  readonly verify?: boolean;
}

const HELP = `
The runtime optimizes each model with several settings. The kernels of all of
them are measured together, in rounds, and once: the store keeps them. Savings
are differences within rounds; less than 2 % is not seen, and less than 4 % of
settings of the session is not seen by kernels. The floor is that of the
variants that were measured. docs/advise.md explains each line.

Examples:
  mlmodelscope dlbricks advise zoo:squeezenet1.1 --threads 2
  mlmodelscope dlbricks advise my-model.onnx --verify --export-json advice.json`;

export function registerAdvise(parent: Command, host: CommandHost): void {
  const command = parent
    .command('advise')
    .description('Find which settings of the runtime save time, how much, and what the kernels could still gain')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME');
  const placed = addQuietOption(addTableOptions(addAgentOptions(addStoreOption(command)), 'unit'));
  addProtocolOptions(addInputOptions(addBatchOption(addThreadsOption(placed))))
    .option(
      '--rounds <n>',
      `rounds in which kernels are measured, 3 to ${MAX_ROUNDS}`,
      wholeNumberOption(3, MAX_ROUNDS),
      5,
    )
    .option('--verify', 'run the whole model with each setting that is advised, and put the outcome beside it')
    .option('--export-svg <file>', 'draw the kernels, with the longest path through them')
    .option('--export-dot <file>', 'the same for Graphviz')
    .addHelpText('after', HELP)
    .action((references: string[], options: AdviseOptions) => adviseAndShow(references, options, host));
}

async function adviseAndShow(references: readonly string[], options: AdviseOptions, host: CommandHost): Promise<void> {
  const outputs = await prepareOutputs(options);
  const agent = await host.connect(options.agent, options.framework);
  const loaded = await loadModels(references, { ...options, runsOn: runsOn(agent, options) }, host);
  const store = await host.openStore(options.store);
  const progress = host.progress(outputs.quiet);
  const protocol = askedProtocol(options);
  const { threads = COMMAND_DEFAULTS.threads, rounds, verify = false } = options;
  const settings = { protocol, limits: DEFAULT_LIMITS, threads, rounds, verify };
  const context = measuringContext({ agent, store }, progress, host);
  const warnings: string[] = [];
  const onEvent: typeof context.onEvent = (event) => {
    if (event.kind === 'note' && event.level === 'warning') warnings.push(event.message);
    context.onEvent(event);
  };
  const found: Advice[] = [];
  let failed = 0;
  let lost: Error | undefined;
  try {
    for (const one of loaded) {
      if (host.signal.aborted) break;
      try {
        found.push(await adviseOn(one, settings, { ...context, onEvent }));
      } catch (error) {
        if (host.signal.aborted) break;
        // No other model can be advised on without the agent.
        if (isOfMachine(error) || (found.length === 0 && one === loaded.at(-1))) {
          lost = error instanceof Error ? error : new Error(messageOf(error));
          break;
        }
        failed++;
        progress.warn(`warning: ${messageOf(error)}`);
      }
    }
  } finally {
    progress.stop();
  }
  if (found.length > 0) {
    const provenance = buildProvenance({ models: loaded, agent, protocol });
    const models = found.map(({ model }) => model);
    const document = adviceDocument(models, rounds, provenance, warnings);
    const shown = shownTable(adviceTable(document), {
      document,
      warnings,
      title: `Advice for ${models.map(({ name }) => name).join(', ')}`,
      verdict: adviceVerdict(models, rounds),
    });
    const drawings = drawnAdvice(found);
    const pictures = { svg: () => graphSvg(drawings), dot: () => graphDot(drawings) };
    await writeShown({ ...shown, pictures }, outputs, host);
  }
  if (lost !== undefined) throw lost;
  setMeasuringExit(host, { isPartial: failed > 0 });
}
