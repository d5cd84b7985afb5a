import type { Command } from 'commander';
import {
  addAllowVersionOption,
  addInputOptions,
  addQuietOption,
  addTableOptions,
  type AgentOptions,
  type BenchmarkAgent,
  type Both,
  checkInputs,
  type CommandHost,
  COMMAND_DEFAULTS,
  EXIT_PARTIAL,
  type Image,
  type InputOptions,
  loadBatches,
  type LoadedModel,
  madeUpPicture,
  messageOf,
  listOutputNames,
  type OutputOptions,
  pictureAt,
  type PictureInput,
  makePictureInput,
  PlatformError,
  prepareOutputs,
  buildProvenance,
  type RunOptions,
  buildRunOptions,
  runsOn,
  type RunValue,
  signatureWithoutName,
  wholeBenchmark,
  withPicture,
  writeShown,
  append,
} from '../../../src/plugin-api.js';
import { compareValues, isWithinTolerance, findParting, dequantizedNames, NO_FIGURES } from '../agree/agreement.js';
import {
  type AgreementDocument,
  type ComparedOutput,
  type DifferingAspect,
  shownAgreement,
  verdictOfAll,
} from '../agree/agreement-result.js';
import { coarsestPrecision } from '../agree/precision.js';
import { listAspects } from '../compare/compare-rounds.js';
import { isSide } from '../compare/side.js';
import { openSides } from './compare-sides.js';
import { differingSteps } from '../agree/differing-steps.js';

interface AgreeOptions extends OutputOptions, InputOptions, Pick<AgentOptions, 'allowVersion'> {}

interface Half {
  readonly agent: BenchmarkAgent;
  readonly runOptions: RunOptions;
  readonly loaded: LoadedModel;
}

const ELEMENTS = { output: 65_536, layer: 4096 } as const;

const HELP = `
Two sides get the same models and inputs; two models get default settings and
the same input. A side is written as for 'mlmodelscope compare': 'default',
settings such as threads=2, framework=onnxruntime-web, agent=HOST:PORT, or a
version such as onnxruntime-node@1.27.0. Each output is compared: the largest
difference, the same over the largest element, the cosine, and for rows of
scores the share of equal first and first five places. Where outputs differ by
more than the tolerance, both sides run once more with all values between
layers, and the first one that differs is named. The tolerance is a part of the
largest element, for the coarsest precision of the two sides: 0.001 for float32,
0.01 for float16, 0.04 for bfloat16 and quantized models, 0.2 below 8 bits.

Two models whose manifests have steps for pictures get pictures: those that are
named, or a made-up one. Steps that differ are listed with what each alone
changes in the input.

Examples:
  mlmodelscope agree optimization_level=disabled default -- zoo:resnet18
  mlmodelscope agree framework=onnxruntime-web default -- my-model.onnx
  mlmodelscope agree my-model.yml changed.yml
  mlmodelscope agree my-model.yml my-model-int8.onnx -- cat.jpg dog.jpg`;

async function runBoth([first, second]: Both<Half>, signal: AbortSignal, everyValue = false) {
  const elements = everyValue ? ELEMENTS.layer : ELEMENTS.output;
  const run = async ({ agent, runOptions, loaded }: Half) =>
    agent.runOnce(await wholeBenchmark(loaded, agent), runOptions, { signal, everyValue, elements });
  return [await run(first), await run(second)] as const;
}

const NO_PARTING = { parts_at: null, parts_operator: null, parts_by: null };

async function partingAt(
  halves: Both<Half>,
  tolerance: number,
  signal: AbortSignal,
): Promise<Pick<ComparedOutput, keyof typeof NO_PARTING>> {
  const [{ loaded }] = halves;
  const standIns = [dequantizedNames(loaded.model), dequantizedNames(halves[1].loaded.model)] as const;
  const parting = findParting(listOutputNames(loaded), await runBoth(halves, signal, true), tolerance, standIns);
  if (parting === undefined) return NO_PARTING;
  const node = loaded.model.graph.nodes.find(({ outputs }) => outputs.includes(parting.name));
  const { relative_difference: by } = parting.agreement;
  return { parts_at: parting.name, parts_operator: node?.opType ?? null, parts_by: by };
}

/** By name, or by place where the two have other names. */
function pairOutputs([first, second]: Both<ReadonlyMap<string, RunValue>>) {
  const others = [...second.values()];
  const isByPlace = first.size === second.size && ![...first.keys()].some((name) => second.has(name));
  return [...first].map(([name, one], place) => ({ name, one, other: isByPlace ? others[place] : second.get(name) }));
}

async function comparedOutputs(halves: Both<Half>, input: string, signal: AbortSignal): Promise<ComparedOutput[]> {
  const { name: precision, tolerance } = coarsestPrecision(halves.map(({ loaded }) => loaded.model));
  const about = { model: halves[0].loaded.name, input, precision, tolerance };
  const unknown = (output: string, reason: string): ComparedOutput => {
    return { ...about, output, elements: 0, ...NO_FIGURES, verdict: 'not known', ...NO_PARTING, reason };
  };
  try {
    const outputs = pairOutputs(await runBoth(halves, signal)).map(({ name: output, one, other }): ComparedOutput => {
      if (other === undefined) return unknown(output, 'the other side has no output of this name');
      const agreement = compareValues(one, other);
      const { isSame, ...figures } = agreement;
      const verdict = isSame ? 'same' : isWithinTolerance(agreement, tolerance) ? 'within tolerance' : 'different';
      return { ...about, output, ...figures, verdict, ...NO_PARTING };
    });
    if (!outputs.some(({ verdict }) => verdict === 'different')) return outputs;
    const parting = await partingAt(halves, tolerance, signal);
    return outputs.map((output) => (output.verdict === 'different' ? { ...output, ...parting } : output));
  } catch (error) {
    if (signal.aborted || !(error instanceof PlatformError) || error.code === 'unavailable') throw error;
    return [unknown('-', messageOf(error))];
  }
}

interface Agreed {
  readonly outputs: readonly ComparedOutput[];
  readonly aspects: readonly DifferingAspect[];
  readonly models: readonly LoadedModel[];
  readonly agent: BenchmarkAgent;
}

/** @throws PlatformError `usage` for a side that is none */
async function agreeSides(
  texts: Both<string>,
  references: readonly string[],
  options: AgreeOptions,
  host: CommandHost,
): Promise<Agreed> {
  const opened = await openSides(texts, references, options, host);
  const [first, second] = opened;
  const outputs: ComparedOutput[] = [];
  for (const [index, loaded] of first.loaded.entries()) {
    const other = { ...second, loaded: second.loaded[index] ?? loaded };
    append(outputs, await comparedOutputs([{ ...first, loaded }, other], 'made up', host.signal));
  }
  const aspects = listAspects(opened).map((aspect) => ({ ...aspect, input_difference: null }));
  return { outputs, aspects, models: first.loaded, agent: first.agent };
}

/** undefined where neither has steps for pictures. */
async function readPictureInputs(
  references: Both<string>,
  loaded: Both<LoadedModel>,
): Promise<Both<PictureInput> | undefined> {
  const first = await makePictureInput(references[0], loaded[0]);
  const second = await makePictureInput(references[1], loaded[1]);
  const known = first ?? second;
  if (known === undefined) return undefined;
  const named = (found: PictureInput | undefined, { model: { graph } }: LoadedModel): PictureInput => {
    const name = graph.inputs.includes(known.name) ? known.name : (graph.inputs[0] ?? '');
    return found ?? { name, steps: known.steps };
  };
  return [named(first, loaded[0]), named(second, loaded[1])];
}

/** As in float32[1, 64]. Models of other precisions take the same numbers. */
function inputTypes({ model: { graph } }: LoadedModel): string {
  const types = graph.inputs.map((name) => {
    const { elementType = '', dims = [] } = graph.types.get(name) ?? {};
    return `${elementType.replace(/^b?float\d+$/, 'float')}[${dims.join(', ')}]`;
  });
  return types.join(', ') || 'no input';
}

/** @throws PlatformError `usage` where the two cannot get the same inputs */
function requireEqualInputs(references: Both<string>, loaded: Both<LoadedModel>): void {
  const first = inputTypes(loaded[0]);
  const second = inputTypes(loaded[1]);
  if (first === second) return;
  const problem = `${references[0]} takes ${first}, and ${references[1]} ${second}, which are not the same inputs`;
  throw new PlatformError('usage', `${problem}; name manifests with steps for pictures, or other models`);
}

/** @throws PlatformError `usage` for pictures where neither model takes them */
async function agreeModels(
  references: Both<string>,
  paths: readonly string[],
  options: AgreeOptions,
  host: CommandHost,
): Promise<Agreed> {
  const agent = await host.connect(undefined);
  const runOptions = buildRunOptions(COMMAND_DEFAULTS.threads, agent.description);
  const load = async (reference: string): Promise<LoadedModel> => {
    const { quiet = false } = options;
    const wanted = { references: [reference], batches: [COMMAND_DEFAULTS.batch], inputs: options, quiet };
    const [batch] = await loadBatches({ ...wanted, runsOn: runsOn(agent, options) }, host);
    const [loaded] = batch?.models ?? [];
    if (loaded === undefined) throw new PlatformError('model', `${reference} has no model`);
    return loaded;
  };
  const models = [await load(references[0]), await load(references[1])] as const;
  checkInputs(models, options);
  const inputs = await readPictureInputs(references, models);
  if (inputs === undefined) requireEqualInputs(references, models);
  if (inputs === undefined && paths.length > 0) {
    throw new PlatformError('usage', `${paths[0] ?? ''}: neither model has a manifest with steps for pictures`);
  }
  const half = (loaded: LoadedModel): Half => ({ agent, runOptions, loaded });
  const [before = '', after = ''] = models.map(({ model }) => signatureWithoutName(model).slice(0, 12));
  const graph = { aspect: 'graph', before, after, input_difference: null };
  const aspects: DifferingAspect[] = before === after ? [] : [graph];
  if (inputs === undefined) {
    const halves = [half(models[0]), half(models[1])] as const;
    return { outputs: await comparedOutputs(halves, 'made up', host.signal), aspects, models, agent };
  }
  const pictures = new Map<string, Image>();
  for (const path of paths) pictures.set(path, await pictureAt(path));
  if (pictures.size === 0) pictures.set('a made-up picture', madeUpPicture());
  const outputs: ComparedOutput[] = [];
  for (const [name, picture] of pictures) {
    const one = half(await withPicture(models[0], inputs[0], picture));
    const other = half(await withPicture(models[1], inputs[1], picture));
    append(outputs, await comparedOutputs([one, other], name, host.signal));
  }
  const [picture = madeUpPicture()] = pictures.values();
  const elementType = models[0].model.graph.types.get(inputs[0].name)?.elementType ?? 'float32';
  append(aspects, differingSteps(inputs[0].steps, inputs[1].steps, picture, elementType));
  return { outputs, aspects, models, agent };
}

/** @throws PlatformError `usage` for a side and a model, and for two sides without a model */
function agree(
  texts: Both<string>,
  given: readonly string[],
  options: AgreeOptions,
  host: CommandHost,
): Promise<Agreed> {
  const sides = texts.filter(isSide);
  if (sides.length === 1) {
    const problem = `${sides[0] ?? ''} is a side and the other one is a model`;
    throw new PlatformError('usage', `${problem}; name two sides or two models`);
  }
  if (sides.length === 0) return agreeModels(texts, given, options, host);
  if (given.length > 0) return agreeSides(texts, given, options, host);
  throw new PlatformError('usage', 'two sides need models: name them after --, as in -- zoo:resnet18');
}

export function registerAgree(program: Command, host: CommandHost): void {
  const command = program
    .command('agree')
    .description('Give two sides or two models the same inputs, and say how far their outputs agree')
    .argument('<a>', "a side, as in 'optimization_level=disabled', or a model")
    .argument('<b>', 'what to compare with it')
    .argument('[input...]', 'for two sides the models; for two models pictures (default: a made-up one)');
  addAllowVersionOption(addInputOptions(addQuietOption(addTableOptions(command, 'output'))))
    .addHelpText('after', HELP)
    .action(async (before: string, after: string, given: readonly string[], options: AgreeOptions) => {
      const shownTo = await prepareOutputs(options);
      const { outputs, aspects, models, agent } = await agree([before, after], given, options, host);
      const stack = 'two sides; aspects has what differs';
      const reasons = { host: 'two sides', stack, protocol: 'nothing was timed' };
      const document: AgreementDocument = {
        provenance: buildProvenance({ models, agent, reasons }),
        before,
        after,
        verdict: verdictOfAll([...outputs]),
        aspects: [...aspects],
        outputs: [...outputs],
      };
      await writeShown(shownAgreement(document), shownTo, host);
      if (outputs.some(({ verdict }) => verdict === 'not known')) host.setExitCode(EXIT_PARTIAL);
    });
}
