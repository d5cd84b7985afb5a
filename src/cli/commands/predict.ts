import type { Command } from 'commander';
import { MAX_BATCH_SIZE } from '../../agent/predict/options.js';
import { wholeNumberOption } from '../../base/option-value.js';
import { addAgentOptions, addQuietOption, addTableOptions } from '../../command/options.js';
import { serverOption, withoutUnwantedServer } from '../address.js';
import type { OwnedHost } from '../host.js';
import { modelAsked } from '../predict/model-asked.js';
import { predict, type PredictFlags } from '../predict/run.js';
import { datasetWanted, imagesWanted, rawWanted, urlsWanted, type WantedPredictions } from '../predict/wanted.js';

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
    .option('--top <k>', 'features of each input (default: as the manifest says)', wholeNumberOption(1, 100_000))
    .option('--publish', "also store the predictions, as the platform's documents")
    .option('--store <uri>', 'where --publish stores them: a folder, or mongodb://HOST/DATABASE');
  return addQuietOption(addTableOptions(command, 'feature'));
}

const OUTPUT_HELP = `
The table has a row for each feature. --export-json writes JSON lines, one for
each input. The row of an input that cannot be used says why, and the exit code
is then 3. Ctrl-C keeps the results so far.`;

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

  const run = async (wanted: WantedPredictions | Promise<WantedPredictions>, command: Command): Promise<void> => {
    const given = command.optsWithGlobals<PredictFlags>();
    const places = [given.agent, given.framework, given.datasets, given.allowPrivateUrls];
    const isElsewhere = places.some((place) => place !== undefined);
    const flags = withoutUnwantedServer(given, isElsewhere, command);
    await predict(await wanted, await modelAsked(flags.model, flags.allowVersion ?? false), flags, host);
  };

  const add = (
    name: string,
    description: string,
    argument: readonly [name: string, description: string],
    help: string,
  ): Command =>
    addPredictOptions(
      group
        .command(name)
        .description(description)
        .argument(...argument),
    ).addHelpText('after', help);

  add(
    'images',
    'Predict for pictures in files: JPEG, PNG, WebP, GIF',
    ['<file...>', 'pictures, and folders of pictures'],
    `${OUTPUT_HELP}

Examples:
  mlmodelscope predict images cat.jpg dogs/ --model zoo:resnet18 --top 5
  mlmodelscope predict images cat.jpg --model my-classifier.yml \\
    --agent 127.0.0.1:7070 --export-json -
  mlmodelscope predict images photos/ --model detector:1.2 --batch-size 8 \\
    --server 127.0.0.1:7080 --export-csv found.csv`,
  ).action((paths: readonly string[], _flags: unknown, command: Command) => run(imagesWanted(paths), command));

  add(
    'urls',
    'Predict for pictures that the agent fetches',
    ['<url...>', 'http or https addresses'],
    `${OUTPUT_HELP}

Example:
  mlmodelscope predict urls https://example.org/cat.jpg --model zoo:resnet18`,
  )
    .option('--allow-private-urls', 'also fetch from this machine and its private network, without --agent')
    .action((urls: readonly string[], _flags: unknown, command: Command) => run(urlsWanted(urls), command));

  add(
    'dataset',
    'Predict for the pictures of a dataset that the agent has, or for made-up inputs',
    ['<dataset>', 'CATEGORY/NAME below the folder of --datasets, or synthetic/COUNT'],
    `${OUTPUT_HELP}

Examples:
  mlmodelscope predict dataset synthetic/64 --model zoo:resnet18 --batch-size 8
  mlmodelscope predict dataset photos/cats --datasets data --model zoo:resnet18`,
  )
    .option('--datasets <dir>', 'folder of datasets on this machine, without --agent')
    .action((dataset: string, _flags: unknown, command: Command) => run(datasetWanted(dataset), command));

  add(
    'raw',
    'Predict for numbers: the tokens of texts, or any other tensors',
    ['<element...>', 'JSON, or files of it (.json, .jsonl, - for standard input), or .npy arrays'],
    `
An element is a list of numbers, or an object with a list for each input. A list
is nested as deep as the input has dimensions without the batch. A line of a
.jsonl file is one element. Numbers are converted to the type of the input, such
as int64 for tokens.
${OUTPUT_HELP}

Examples:
  mlmodelscope predict raw '[464, 3290, 318]' --model my-gpt2.yml --top 5
  mlmodelscope predict raw texts.jsonl --model my-bert.yml --export-json -
  mlmodelscope predict raw tokens.npy --model my-bert.yml --agent 127.0.0.1:7070`,
  ).action((given: readonly string[], _flags: unknown, command: Command) => run(rawWanted(given), command));
}
