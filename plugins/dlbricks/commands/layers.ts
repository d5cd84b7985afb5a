import type { Command } from 'commander';
import {
  counted,
  addAgentOptions,
  addBatchOption,
  addInputOptions,
  addQuietOption,
  addTableOptions,
  type AgentOptions,
  type CommandHost,
  COMMAND_DEFAULTS,
  type InputOptions,
  isCompletelyTyped,
  type LayerGraph,
  layerGraph,
  loadModels,
  oneLine,
  type OutputOptions,
  prepareOutputs,
  buildProvenance,
  buildRunOptions,
  shownTable,
  wholeNumberOption,
  writeShown,
} from '../../../src/plugin-api.js';
import { graphToCut } from '../bricks/decompose.js';
import { madeUpInLayers } from '../report/warnings.js';
import { layersDocument, countLayerWork, shownLayers } from '../work/layer-table.js';
import { MAX_PATTERN_LENGTH, countPatterns, patternsTable } from '../work/patterns.js';

interface LayersOptions extends InputOptions, OutputOptions, AgentOptions {
  readonly batch?: number;
}

interface PatternsOptions extends LayersOptions {
  readonly length: number;
}

const LAYERS_HELP = `
Nothing runs, unless the file of a model does not state all shapes: then the
runtime finds them. Operations are additions, divisions, comparisons and so on;
a multiply-accumulate is two. Bytes count each value once. Intensity is the
number of operations for each byte; docs/analyses.md has the formulas.

Examples:
  mlmodelscope dlbricks layers zoo:resnet50 --batch 4
  mlmodelscope dlbricks layers my-model.onnx --export-csv layers.csv`;

const PATTERNS_HELP = `
Example:
  mlmodelscope dlbricks patterns zoo:resnet18 zoo:bert_base --length 3`;

function addOptions(command: Command, row: string): Command {
  return addQuietOption(addTableOptions(addAgentOptions(addInputOptions(addBatchOption(command))), row));
}

/** An agent takes part only where a file does not state all types. */
async function loadGraphs(references: readonly string[], options: LayersOptions, host: CommandHost) {
  const loaded = await loadModels(references, options, host);
  const graphs: LayerGraph[] = [];
  for (const one of loaded) {
    if (isCompletelyTyped(one.model)) {
      graphs.push(layerGraph(one.model));
      continue;
    }
    const agent = await host.connect(options.agent, options.framework);
    const name = oneLine(one.name);
    host.warn(`note: ${name}: its file does not state all shapes; ${agent.description.framework} finds them`);
    const settings = {
      cut: 'layer',
      runOptions: buildRunOptions(COMMAND_DEFAULTS.threads, agent.description),
    } as const;
    graphs.push((await graphToCut(one, settings, agent, host.signal)).graph);
  }
  return { loaded, graphs };
}

export function registerLayers(parent: Command, host: CommandHost): void {
  const layers = parent
    .command('layers')
    .description('Show the operations and bytes of each layer, without running the model')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME');
  addOptions(layers, 'layer')
    .addHelpText('after', LAYERS_HELP)
    .action(async (references: string[], options: LayersOptions) => {
      const outputs = await prepareOutputs(options);
      const { loaded, graphs } = await loadGraphs(references, options, host);
      const named = loaded.flatMap(({ name }, at) => (graphs[at] ? [{ name, graph: graphs[at] }] : []));
      for (const { name, graph } of named) {
        const warning = madeUpInLayers(name, graph);
        if (warning !== undefined) host.warn(`warning: ${warning}`);
      }
      const found = countLayerWork(named);
      const document = layersDocument(found, buildProvenance({ models: loaded }));
      await writeShown(shownLayers(document), outputs, host);
    });
}

export function registerPatterns(parent: Command, host: CommandHost): void {
  const patterns = parent
    .command('patterns')
    .description('Count which sequences of layer types models have, without running them')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME');
  addOptions(patterns, 'pattern')
    .option('--length <n>', 'layers of a sequence', wholeNumberOption(1, MAX_PATTERN_LENGTH), 2)
    .addHelpText('after', PATTERNS_HELP)
    .action(async (references: string[], options: PatternsOptions) => {
      const outputs = await prepareOutputs(options);
      const { loaded, graphs } = await loadGraphs(references, options, host);
      const table = patternsTable(countPatterns(graphs, options.length), options.length, graphs.length);
      const shown = shownTable(table, {
        document: { provenance: buildProvenance({ models: loaded }), ...table },
        title: `Sequences of ${counted(options.length, 'layer type')} in ${loaded.map(({ name }) => name).join(', ')}`,
      });
      await writeShown(shown, outputs, host);
    });
}
