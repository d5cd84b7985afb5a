import type { Command } from 'commander';
import { type CommandHost, type LoadedModel, PlatformError, type TensorType } from '../../../src/plugin-api.js';
import type { EmptyCall } from '../bricks/empty-call.js';
import { operatorsWithLearnedAttributes } from '../bricks/learned-attributes.js';
import { kernelWarning } from '../bricks/own-graph.js';
import { endsOf, granularityOf, type PreparedModel, prepareModel } from '../bricks/prepare-model.js';
import { RECIPE_FORMAT } from '../bricks/recipe.js';
import type { Cut } from '../cut/cut.js';
import { type SuiteBrick, writeSuite } from '../exchange/suite.js';
import { counted, percent } from '../report/words.js';
import { type Disclosure, disclosureOf } from '../exchange/disclosure.js';
import { optimizedForOf } from '../exchange/optimized-for.js';
import { uniqueBricks } from '../bricks/unique-bricks.js';
import { loadModels } from './load-models.js';
import { prepareModels } from './prepare-models.js';
import {
  addAgentOptions,
  addCutOptions,
  type ReachOptions,
  cutOf,
  DEFAULTS,
  type MeasuringOptions,
} from './options.js';

interface GenerateOptions extends MeasuringOptions, ReachOptions {
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

/** What the suite tells its reader, for its owner to weigh. */
function disclosureText({ largestBrick, inLargerBricks, bricks, inNoDecoy }: Disclosure, cut: Cut): string {
  const noun = cut === 'kernel' ? 'kernel' : 'layer';
  return [
    `disclosed: every brick's operator, attributes and shapes`,
    `the largest brick has ${counted(largestBrick, noun)}`,
    `${percent(inLargerBricks * 100, 0)} of the ${noun}s are in bricks of more than one, which show their order`,
    `no decoy has ${inNoDecoy} of the models' ${counted(bricks, 'brick')}`,
  ].join('; ');
}

/** `dlbricks generate MODEL... -o DIR` */
export function registerGenerate(parent: Command, host: CommandHost): void {
  const command = parent
    .command('generate')
    .description('Write a suite of unique bricks to give away, and a recipe to keep')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME')
    .requiredOption('-o, --output <folder>', 'folder that gets suite/ and recipe.json')
    .option(
      '--decoy <model...>',
      'models whose bricks are added, so that the suite does not show which models are yours',
    );
  addAgentOptions(addCutOptions(command))
    .option('--quiet', 'no progress; errors and warnings only')
    .addHelpText(
      'after',
      `
The suite holds no weights, no names, and no order or topology beyond one
brick. It shows the operator, attributes and shapes of each brick, and the
memory that its model touches, rounded to a power of two. The recipe says
which bricks make which model: keep it. Another machine measures the suite,
and you compose estimates from the results. One kernel per brick, the
default, shows least. At the end the command prints what the suite
discloses.

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
      const quiet = options.quiet ?? false;
      const prepared = await prepareModels(loaded, { settings, agent, prepare: prepareModel, quiet }, host);
      prepared.forEach(refuseLearnedAttributes);
      for (const { recipe, kernelCheck } of prepared) {
        const warning = kernelWarning(recipe.name, kernelCheck);
        if (warning !== undefined) host.warn(`warning: ${warning}`);
      }
      const bricks = uniqueBricks(prepared);
      const models = prepared.slice(0, references.length).map(({ recipe }) => recipe);
      const optimizedFor = cut === 'kernel' ? optimizedForOf(await agent.system(settings.runOptions)) : undefined;
      const all = prepared.flatMap(suiteBricksOf);
      await writeSuite(
        options.output,
        { cut, granularity, optimizedFor, bricks: all, calls: callsOf(loaded, cut), handingOver: handedOver(prepared) },
        { format: RECIPE_FORMAT, cut, granularity, batch: options.batch ?? DEFAULTS.batch, models },
      );
      if (options.quiet === true) return;
      host.warn(
        `${bricks.length} unique bricks in ${options.output}/suite; keep ${options.output}/recipe.json to yourself`,
      );
      const decoys = prepared.slice(references.length).map(({ recipe }) => recipe);
      host.warn(disclosureText(disclosureOf(models, decoys), cut));
    });
}
