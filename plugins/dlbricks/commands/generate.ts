import type { Command } from 'commander';
import {
  addAgentOptions,
  type AgentOptions,
  type CommandHost,
  distinctByContent,
  EXIT_PARTIAL,
  type LoadedModel,
  PlatformError,
  type UnusableModel,
  counted,
} from '../../../src/plugin-api.js';
import type { EmptyCall } from '../bricks/empty-call.js';
import { longestPrivateList } from '../bricks/brick.js';
import type { OutputType } from '../bricks/output-copy.js';
import { kernelWarning } from '../bricks/own-graph.js';
import { countEnds } from '../bricks/decompose.js';
import { prepareOrRefuse, type PreparedModel } from '../bricks/prepare-model.js';
import { RECIPE_FORMAT } from '../bricks/recipe.js';
import type { Cut } from '../cut/cut.js';
import { requireNewSuite, type SuiteBrick, writeSuite, describeOptimizedFor } from '../exchange/suite.js';
import { madeUpInSuite } from '../report/warnings.js';
import { percent } from '../report/figures.js';
import { computeDisclosure, operatorsWithLearnedAttributes } from '../exchange/disclosure.js';
import { uniqueBricks } from '../bricks/unique-bricks.js';
import { loadAndPrepare } from './prepare-models.js';
import { addCutOptions, type MeasuringOptions } from './options.js';

interface GenerateOptions extends MeasuringOptions, AgentOptions {
  readonly output: string;
  readonly decoy?: readonly string[];
  readonly quiet?: boolean;
}

/** In an order that discloses nothing. */
function listEmptyCalls(models: readonly LoadedModel[], cut: Cut): readonly EmptyCall[] {
  if (cut === 'layer') return [];
  const calls = distinctByContent(models.map(({ model }) => countEnds(model)));
  const byTexts = (a: EmptyCall, b: EmptyCall): number =>
    (a.texts ?? 0) - (b.texts ?? 0) || (a.returned_texts ?? 0) - (b.returned_texts ?? 0);
  return calls.sort((a, b) => a.inputs - b.inputs || a.outputs - b.outputs || byTexts(a, b));
}

/** Each list of types once, in an order that discloses nothing. */
function outputCopies(models: readonly PreparedModel[]): readonly (readonly OutputType[])[] {
  const lists = models.flatMap(({ outputCopy }) => (outputCopy === undefined ? [] : [outputCopy.types]));
  const unique = new Map(lists.map((types) => [JSON.stringify(types), types]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, types]) => types);
}

/** With the footprint of its model where bricks are measured together. */
function listSuiteBricks({
  recipe: { footprint_bytes: footprintBytes },
  bricks,
}: PreparedModel): readonly SuiteBrick[] {
  return bricks.map((brick) => (brick.copies === undefined ? { ...brick, footprintBytes } : brick));
}

function learnedAttributes({ bricks }: PreparedModel): string | undefined {
  const operators = new Set(bricks.flatMap(operatorsWithLearnedAttributes));
  if (operators.size === 0) return undefined;
  return `${[...operators].join(', ')} keeps learned values in its attributes or texts, which a suite would show; on its owner's own machine, 'dlbricks validate' works for it`;
}

function privateValues({ bricks }: PreparedModel): string | undefined {
  const hidden = bricks.filter((brick) => longestPrivateList(brick) > 0);
  const [first] = hidden;
  if (first === undefined) return undefined;
  const operators = [...new Set(hidden.flatMap((brick) => brick.operators))].join(', ');
  return `the given values of inputs decide the work of ${operators}, and a suite would show ${longestPrivateList(first)} of them; leave --input and \`values\` out, or on its owner's own machine, 'dlbricks run' works for it`;
}

function disclosureText(
  { largestBrick, inLargerBricks, bricks, inNoDecoy }: ReturnType<typeof computeDisclosure>,
  cut: Cut,
): string {
  const noun = cut === 'kernel' ? 'kernel' : 'layer';
  return [
    `disclosed: every brick's operator, attributes and shapes`,
    `the largest brick has ${counted(largestBrick, noun)}`,
    `${percent(inLargerBricks * 100, 0)} of the ${noun}s are in bricks of more than one, which show their order`,
    `${inNoDecoy} of the models' ${counted(bricks, 'brick')} ${inNoDecoy === 1 ? 'is' : 'are'} in no decoy`,
  ].join('; ');
}

const HIDING_NOTHING =
  'warning: the decoys hide nothing: no brick of the models is in a decoy, so whoever knows the decoys sees which bricks are yours; choose decoys of the same family';

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

Example; the second line may run on any machine:
  mlmodelscope dlbricks generate secret.onnx --decoy zoo:resnet50 -o out
  mlmodelscope dlbricks run --suite out/suite --export-json results.json
  mlmodelscope dlbricks compose --recipe out/recipe.json --results results.json`,
    )
    .action(async (references: string[], options: GenerateOptions) => {
      if (options.output === '') throw new PlatformError('usage', '--output: the name is empty; name a folder');
      requireNewSuite(options.output);
      const agent = await host.connect(options.agent, options.framework);
      const unusable: UnusableModel[] = [];
      const { size } = new Set(references);
      let owned = size;
      const named = [...references, ...(options.decoy ?? [])];
      const found = await loadAndPrepare(named, options, agent, host, prepareOrRefuse, (model, index) => {
        unusable.push(model);
        if (index < size) owned--;
      });
      const { loaded: read, prepared: cuttings, header } = found;
      const { cut } = header;
      const all = cuttings.flatMap((cutting, index) => {
        const reason = cutting.refusal ?? learnedAttributes(cutting) ?? privateValues(cutting);
        const loaded = read[index];
        if (reason === undefined && loaded !== undefined)
          return [{ loaded, prepared: cutting, isDecoy: index >= owned }];
        unusable.push({ name: cutting.recipe.name, reason: reason ?? '' });
        return [];
      });
      const own = all.filter(({ isDecoy }) => !isDecoy);
      const reasons = unusable.map(({ name, reason }) => `${name} is left out: ${reason}`);
      if (own.length === 0) throw new PlatformError('unsupported', reasons.join('\n'));
      for (const reason of reasons) host.warn(`warning: ${reason}`);
      const prepared = all.map((model) => model.prepared);
      for (const { recipe, kernelCheck } of prepared) {
        for (const warning of [kernelWarning(recipe.name, kernelCheck), madeUpInSuite(recipe)])
          if (warning !== undefined) host.warn(`warning: ${warning}`);
      }
      const models = own.map((model) => model.prepared.recipe);
      const loaded = all.map((model) => model.loaded);
      const suite = {
        cut,
        granularity: header.granularity,
        optimizedFor: cut === 'kernel' ? describeOptimizedFor(agent.description) : undefined,
        bricks: prepared.flatMap(listSuiteBricks),
        calls: listEmptyCalls(loaded, cut),
        outputCopies: outputCopies(prepared),
      };
      const { output } = options;
      await writeSuite(output, suite, { format: RECIPE_FORMAT, ...header, models });
      const decoys = all.filter(({ isDecoy }) => isDecoy).map((model) => model.prepared.recipe);
      const disclosure = computeDisclosure(models, decoys);
      if (options.decoy !== undefined && disclosure.inNoDecoy === disclosure.bricks) host.warn(HIDING_NOTHING);
      if (unusable.length > 0) host.setExitCode(EXIT_PARTIAL);
      if (options.quiet === true) return;
      const { length } = uniqueBricks(prepared);
      host.warn(`${counted(length, 'unique brick')} in ${output}/suite; keep ${output}/recipe.json to yourself`);
      host.warn(disclosureText(disclosure, cut));
    });
}
