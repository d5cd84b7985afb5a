import type { Command } from 'commander';
import { type CommandHost, type LoadedModel, PlatformError, type TensorType } from '../../../src/plugin-api.js';
import type { EmptyCall } from '../bricks/empty-call.js';
import { operatorsWithLearnedAttributes } from '../bricks/learned-attributes.js';
import { endsOf, granularityOf, type PreparedModel, prepareModel } from '../bricks/prepare-model.js';
import { RECIPE_FORMAT } from '../bricks/recipe.js';
import type { Cut } from '../cut/cut.js';
import { type SuiteBrick, writeSuite } from '../exchange/suite.js';
import { optimizedForOf } from '../exchange/optimized-for.js';
import { uniqueBricks } from '../bricks/unique-bricks.js';
import { loadModels } from './load-models.js';
import {
  addAgentOptions,
  addCutOptions,
  type AgentOptions,
  cutOf,
  DEFAULTS,
  type MeasuringOptions,
} from './options.js';

interface GenerateOptions extends MeasuringOptions, AgentOptions {
  readonly output: string;
  readonly decoy?: readonly string[];
  readonly quiet?: boolean;
}

/** The empty calls that belong to the models, each once, in an order that tells nothing. */
function callsOf(models: readonly LoadedModel[], cut: Cut): readonly EmptyCall[] {
  if (cut === 'layer') return [];
  const calls = models.map(({ model }) => endsOf(model));
  const unique = [...new Map(calls.map((call) => [`${call.inputs} ${call.outputs}`, call])).values()];
  return unique.sort((a, b) => a.inputs - b.inputs || a.outputs - b.outputs);
}

/** The outputs that are handed over, each list of types once, in an order that tells nothing. */
function handedOver(models: readonly PreparedModel[]): readonly (readonly TensorType[])[] {
  const lists = models.flatMap(({ handingOver }) => (handingOver === undefined ? [] : [handingOver.types]));
  const unique = new Map(lists.map((types) => [JSON.stringify(types), types]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, types]) => types);
}

/** Every brick with the footprint of its model, where that is what it is measured in. */
function suiteBricksOf({ recipe, bricks }: PreparedModel): readonly SuiteBrick[] {
  const { footprint_bytes: footprintBytes } = recipe;
  return bricks.map((brick) => ({ ...brick, footprintBytes }));
}

/** @throws PlatformError `unsupported` where a suite would show what a model has learned */
function refuseLearnedAttributes({ recipe, bricks }: PreparedModel): void {
  const operators = new Set(bricks.flatMap(operatorsWithLearnedAttributes));
  if (operators.size === 0) return;
  throw new PlatformError(
    'unsupported',
    `${recipe.name}: ${[...operators].join(', ')} keeps learned values in its attributes or texts, which a suite would show; leave this model out; on its owner's own machine, 'dlbricks validate' works for it`,
  );
}

/** `dlbricks generate MODEL... -o DIR` */
export function registerGenerate(parent: Command, host: CommandHost): void {
  const command = parent
    .command('generate')
    .description('Write a suite of unique bricks that can be given away, and the recipe that stays')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME')
    .requiredOption('-o, --output <folder>', 'folder that gets suite/ and recipe.json')
    .option(
      '--decoy <model...>',
      'models whose bricks are mixed in, so that the suite does not tell which it represents',
    );
  addAgentOptions(addCutOptions(command))
    .option('--quiet', 'no progress; errors and warnings only')
    .addHelpText(
      'after',
      `
The suite holds no weights, no names, and no order or topology beyond one brick.
The recipe says which bricks make which model: keep it. Whoever has the suite
measures it, and the results come back for composing. How much of a model one
brick shows is yours to say: -G 1 shows least, larger bricks are more accurate.

Example, of which the second line may run anywhere:
  mlmodelscope dlbricks generate secret.onnx --decoy zoo:resnet50 -o out
  mlmodelscope dlbricks run --suite out/suite --export-json results.json
  mlmodelscope dlbricks compose --recipe out/recipe.json --results results.json`,
    )
    .action(async (references: string[], options: GenerateOptions) => {
      const settings = cutOf(options);
      const { cut } = settings;
      const agent = await host.connect(options.server, options.framework);
      const granularity = granularityOf(settings, await agent.measuresTogether());
      const loaded = await loadModels([...references, ...(options.decoy ?? [])], options, host);
      const progress = host.progress(options.quiet ?? false);
      const prepared: PreparedModel[] = [];
      try {
        for (const [done, model] of loaded.entries()) {
          progress.step('cutting', done, loaded.length, model.name);
          prepared.push(await prepareModel(model, settings, agent, host.signal));
        }
      } finally {
        progress.stop();
      }
      prepared.forEach(refuseLearnedAttributes);
      const bricks = uniqueBricks(prepared);
      const models = prepared.slice(0, references.length).map(({ recipe }) => recipe);
      const optimizedFor = cut === 'kernel' ? optimizedForOf(await agent.system(settings.runOptions)) : undefined;
      const all = prepared.flatMap(suiteBricksOf);
      await writeSuite(
        options.output,
        { cut, granularity, optimizedFor, bricks: all, calls: callsOf(loaded, cut), handingOver: handedOver(prepared) },
        { format: RECIPE_FORMAT, cut, granularity, batch: options.batch ?? DEFAULTS.batch, models },
      );
      if (options.quiet !== true) {
        host.warn(
          `${bricks.length} unique bricks in ${options.output}/suite; keep ${options.output}/recipe.json to yourself`,
        );
      }
    });
}
