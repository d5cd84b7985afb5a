import type { Command } from 'commander';
import type {
  AnsweredPrediction,
  Prediction,
  PredictionClient,
  PredictionInputs,
} from '../../agent/client/prediction-client.js';
import { MAX_BATCH_SIZE } from '../../agent/predict/options.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { EXIT_INTERRUPTED, EXIT_PARTIAL } from '../../base/exit-codes.js';
import { wholeNumberOption } from '../../base/option-value.js';
import { addAgentOptions, addQuietOption, addTableOptions, type OutputOptions } from '../../command/options.js';
import { prepareOutputs, writeShown } from '../../command/outputs.js';
import type { TraceLevel } from '../../tracing/trace-level.js';
import { serverOption } from '../address.js';
import type { OwnedHost } from '../host.js';
import { predictionLines } from '../predict/documents.js';
import { type GivenInput, predictGiven } from '../predict/given-inputs.js';
import { type ModelAsked, modelAsked } from '../predict/model-asked.js';
import { pictureFiles } from '../predict/picture-files.js';
import { connectPredictor, type PlaceFlags } from '../predict/predictor.js';
import { rawElements } from '../predict/raw-elements.js';
import { predictionResult, predictionText } from '../predict/table.js';

interface PredictFlags extends PlaceFlags, OutputOptions {
  readonly model: string;
  readonly batchSize?: number;
  readonly top?: number;
  readonly traceLevel?: TraceLevel;
}

/** Predictions in memory. More is too much for one command. */
const MOST_HELD_BYTES = 2 ** 30;

/** A model that is open for the command. */
interface OpenedModel {
  readonly id: string;
  readonly client: PredictionClient;
  readonly batchSize: number;
  readonly signal: AbortSignal;
  /** Called with every answer. */
  readonly onAnswer: (answer: AnsweredPrediction) => void;
}

/** Predicts for what the command line names. */
type Predict = (model: OpenedModel) => AsyncIterable<Prediction>;

/** What a command line names, and how many inputs that is where it is known. */
interface Wanted {
  readonly total: number | undefined;
  readonly predict: Predict;
}

async function* answersOf(
  { id, client, signal, onAnswer }: OpenedModel,
  inputs: PredictionInputs,
): AsyncGenerator<Prediction> {
  for await (const answer of client.predictEach(id, inputs, signal)) {
    onAnswer(answer);
    yield answer;
  }
}

/** Inputs that the command sends, many in each call. */
function sent<T>(
  given: readonly GivenInput<T>[],
  bytesOf: (value: T) => number,
  toWire: (inputs: readonly { readonly id: string; readonly value: T }[]) => PredictionInputs,
): Wanted {
  const predict: Predict = (model) => {
    const { batchSize, signal } = model;
    return predictGiven(given, {
      batchSize,
      bytesOf,
      signal,
      predict: (inputs) => answersOf(model, toWire(inputs)),
    });
  };
  return { total: given.length, predict };
}

async function imagesWanted(paths: readonly string[]): Promise<Wanted> {
  return sent(
    await pictureFiles(paths),
    ({ length }) => length,
    (inputs) => {
      const images = inputs.map(({ id, value }) => ({ id, data: value }));
      return { $case: 'images', value: { images } };
    },
  );
}

function urlsWanted(addresses: readonly string[]): Wanted {
  const given = addresses.map((address) => ({ id: address, read: () => address }));
  return sent(
    given,
    ({ length }) => length,
    (inputs) => {
      const urls = inputs.map(({ id, value }) => ({ id, data: value }));
      return { $case: 'urls', value: { urls } };
    },
  );
}

async function rawWanted(given: readonly string[]): Promise<Wanted> {
  return sent(
    await rawElements(given),
    (tensors) => tensors.reduce((sum, { data }) => sum + data.length, 0),
    (inputs) => {
      const elements = inputs.map(({ id, value }) => ({ id, tensors: [...value] }));
      return { $case: 'elements', value: { elements } };
    },
  );
}

function datasetWanted(dataset: string): Wanted {
  const [category = '', ...name] = dataset.split('/');
  const value = { category, name: name.join('/') };
  return { total: undefined, predict: (model) => answersOf(model, { $case: 'dataset', value }) };
}

function bytesOf({ outcome }: Prediction): number {
  if (outcome.kind === 'failure') return outcome.message.length;
  return outcome.features.reduce((sum, feature) => {
    if (feature.kind === 'raw') return sum + feature.bytes.length;
    return sum + ('mask' in feature ? feature.mask.byteLength : 0);
  }, 0);
}

/** What was predicted, and what ended it before all was. */
interface Outcome {
  readonly predictions: readonly Prediction[];
  readonly traceId: string;
  readonly stoppedBy: Error | undefined;
}

/** Predicts for all inputs, or until something ends that. */
async function predictAll(wanted: Wanted, asked: ModelAsked, flags: PredictFlags, host: OwnedHost): Promise<Outcome> {
  const predictions: Prediction[] = [];
  let traceId = '';
  let total = wanted.total ?? 0;
  let heldBytes = 0;
  const progress = host.progress(flags.quiet ?? false);
  const { signal } = host;
  const { batchSize, top: featureLimit, traceLevel } = flags;
  const predictor = await connectPredictor(flags, asked, host);
  const { client } = predictor;
  try {
    progress.step('opening', 0, total, asked.modelName);
    const id = await client.open(asked, { batchSize, featureLimit, traceLevel }, signal);
    const onAnswer = (answer: AnsweredPrediction): void => {
      total = wanted.total ?? answer.total;
      traceId ||= answer.traceId;
    };
    try {
      for await (const prediction of wanted.predict({ id, client, batchSize: batchSize ?? 1, signal, onAnswer })) {
        predictions.push(prediction);
        heldBytes += bytesOf(prediction);
        if (heldBytes > MOST_HELD_BYTES) {
          const problem = `the predictions take more than ${MOST_HELD_BYTES} bytes`;
          throw new PlatformError('exhausted', `${problem}; give fewer inputs at a time`);
        }
        progress.step('predicting', predictions.length, total, prediction.inputId);
      }
    } finally {
      // It closes by itself where that fails.
      await client.closeModel(id).catch(() => undefined);
    }
    return { predictions, traceId, stoppedBy: undefined };
  } catch (error) {
    return { predictions, traceId, stoppedBy: error instanceof Error ? error : new Error(messageOf(error)) };
  } finally {
    progress.stop();
    await predictor.close();
  }
}

async function predict(wanted: Wanted, asked: ModelAsked, flags: PredictFlags, host: OwnedHost): Promise<void> {
  const outputs = await prepareOutputs(flags);
  const { predictions, traceId, stoppedBy } = await predictAll(wanted, asked, flags, host);
  if (predictions.length === 0 && stoppedBy !== undefined) throw stoppedBy;
  const shown = {
    result: () => predictionResult(predictions, traceId),
    jsonLines: () => predictionLines(predictions),
    text: ({ width }: { readonly width: number | undefined }) => predictionText(predictions, traceId, width),
  };
  await writeShown(shown, outputs, host);
  if (predictions.some(({ outcome }) => outcome.kind === 'failure')) host.setExitCode(EXIT_PARTIAL);
  if (stoppedBy === undefined) return;
  if (!host.signal.aborted) throw stoppedBy;
  host.warn(`interrupted; ${predictions.length} inputs are predicted for`);
  host.setExitCode(EXIT_INTERRUPTED);
}

/** Ignores a server from the environment where other options say where to predict. */
function withoutUnwantedServer({ server, ...others }: PredictFlags, command: Command): PredictFlags {
  const isElsewhere = [others.agent, others.framework, others.datasets, others.allowPrivateUrls].some(
    (flag) => flag !== undefined,
  );
  const isUnwanted = isElsewhere && command.getOptionValueSource('server') === 'env';
  return server === undefined || isUnwanted ? others : { ...others, server };
}

const MODEL_HELP = 'model manifest (.yml), or NAME[:VERSION] of a model that the agent has';

function addPredictOptions(command: Command): Command {
  command
    .requiredOption('--model <model>', MODEL_HELP)
    .addOption(serverOption("the platform's server, which picks an agent that has the model"));
  addAgentOptions(command, 'predicts')
    .option(
      '--batch-size <n>',
      "inputs that the model gets at a time (default: 1, or the model's fixed batch)",
      wholeNumberOption(1, MAX_BATCH_SIZE),
    )
    .option('--top <k>', 'features of each input (default: what the manifest says)', wholeNumberOption(1, 100_000));
  return addQuietOption(addTableOptions(command));
}

const OUTPUT_HELP = `
The table has a row for each feature. --export-json writes JSON lines, one for
each input. An input that cannot be used has its reason in its row, and the exit
code is 3. Ctrl-C keeps what is there.`;

/** `mlmodelscope predict images|urls|dataset|raw`: what models find in inputs. */
export function registerPredictCommand(program: Command, host: OwnedHost): void {
  const group = program
    .command('predict')
    .description('Predict with a model, on this machine, an agent, or through a server')
    .addHelpText(
      'after',
      `
Examples:
  mlmodelscope predict images photo.jpg --model zoo:squeezenet1.1 --top 3
  mlmodelscope predict dataset synthetic/16 --model zoo:resnet18`,
    );

  /** Runs a subcommand with the inputs that its arguments name. */
  const run = async (wanted: Wanted | Promise<Wanted>, command: Command): Promise<void> => {
    const flags = withoutUnwantedServer(command.optsWithGlobals<PredictFlags>(), command);
    await predict(await wanted, await modelAsked(flags.model), flags, host);
  };

  addPredictOptions(
    group
      .command('images')
      .description('Predict for pictures in files: JPEG, PNG, WebP, GIF')
      .argument('<file...>', 'pictures, and folders of pictures'),
  )
    .addHelpText(
      'after',
      `${OUTPUT_HELP}

Examples:
  mlmodelscope predict images cat.jpg dogs/ --model zoo:resnet18 --top 5
  mlmodelscope predict images cat.jpg --model my-classifier.yml \\
    --agent 127.0.0.1:7070 --export-json -
  mlmodelscope predict images photos/ --model detector:1.2 --batch-size 8 \\
    --server 127.0.0.1:7080 --export-csv found.csv`,
    )
    .action((paths: readonly string[], _flags: unknown, command: Command) => run(imagesWanted(paths), command));

  addPredictOptions(
    group
      .command('urls')
      .description('Predict for pictures that the agent fetches')
      .argument('<url...>', 'http or https addresses'),
  )
    .option('--allow-private-urls', 'also fetch from this machine and its private network, without --agent')
    .addHelpText(
      'after',
      `${OUTPUT_HELP}

Example:
  mlmodelscope predict urls https://example.org/cat.jpg --model zoo:resnet18`,
    )
    .action((urls: readonly string[], _flags: unknown, command: Command) => run(urlsWanted(urls), command));

  addPredictOptions(
    group
      .command('dataset')
      .description('Predict for the pictures of a dataset that the agent has, or for made-up inputs')
      .argument('<dataset>', 'CATEGORY/NAME below the folder of --datasets, or synthetic/COUNT'),
  )
    .option('--datasets <dir>', 'folder of datasets on this machine, without --agent')
    .addHelpText(
      'after',
      `${OUTPUT_HELP}

Examples:
  mlmodelscope predict dataset synthetic/64 --model zoo:resnet18 --batch-size 8
  mlmodelscope predict dataset photos/cats --datasets data --model zoo:resnet18`,
    )
    .action((dataset: string, _flags: unknown, command: Command) => run(datasetWanted(dataset), command));

  addPredictOptions(
    group
      .command('raw')
      .description('Predict for numbers: the tokens of texts, or any other tensors')
      .argument('<element...>', 'JSON, or files of it (.json, .jsonl, - for standard input), or .npy arrays'),
  )
    .addHelpText(
      'after',
      `
An element is a list of numbers, as deep as the input has dimensions without the
batch, or an object with a list for each input. A line of a .jsonl file is one
element. Numbers become what the input takes, int64 tokens for example.
${OUTPUT_HELP}

Examples:
  mlmodelscope predict raw '[464, 3290, 318]' --model my-gpt2.yml --top 5
  mlmodelscope predict raw texts.jsonl --model my-bert.yml --export-json -
  mlmodelscope predict raw tokens.npy --model my-bert.yml --agent 127.0.0.1:7070`,
    )
    .action((given: readonly string[], _flags: unknown, command: Command) => run(rawWanted(given), command));
}
