import type {
  AnsweredPrediction,
  Prediction,
  PredictionClient,
  PredictionInputs,
} from '../../agent/client/prediction-client.js';
import { type GivenInput, predictGiven } from './given-inputs.js';
import { pictureFiles } from './picture-files.js';
import type { PublishedPredictions } from './publish.js';
import { rawElements } from './raw-elements.js';

export interface OpenedModel {
  readonly id: string;
  readonly client: PredictionClient;
  readonly batchSize: number;
  readonly signal: AbortSignal;
  readonly onAnswer: (answer: AnsweredPrediction) => void;
}

type Predict = (model: OpenedModel) => AsyncIterable<Prediction>;

export interface WantedPredictions {
  readonly total: number | undefined;
  readonly dataset: PublishedPredictions['dataset'];
  readonly predict: Predict;
}

async function* streamAnswers(
  { id, client, signal, onAnswer }: OpenedModel,
  inputs: PredictionInputs,
): AsyncGenerator<Prediction> {
  for await (const answer of client.predictEach(id, inputs, signal)) {
    onAnswer(answer);
    yield answer;
  }
}

/** Inputs that the command sends, with many in each call. */
function sent<T>(
  kind: 'images' | 'urls' | 'raw',
  given: readonly GivenInput<T>[],
  bytesOf: (value: T) => number,
  toWire: (inputs: readonly { readonly id: string; readonly value: T }[]) => PredictionInputs,
): WantedPredictions {
  const predict: Predict = (model) => {
    const { batchSize, signal } = model;
    return predictGiven(given, {
      batchSize,
      bytesOf,
      signal,
      predict: (inputs) => streamAnswers(model, toWire(inputs)),
    });
  };
  return { total: given.length, dataset: { category: '', name: kind }, predict };
}

export async function imagesWanted(paths: readonly string[]): Promise<WantedPredictions> {
  return sent(
    'images',
    await pictureFiles(paths),
    ({ length }) => length,
    (inputs) => ({ $case: 'images', value: { images: inputs.map(({ id, value }) => ({ id, data: value })) } }),
  );
}

export function urlsWanted(addresses: readonly string[]): WantedPredictions {
  const given = addresses.map((address) => ({ id: address, read: () => address }));
  return sent(
    'urls',
    given,
    ({ length }) => length,
    (inputs) => ({ $case: 'urls', value: { urls: inputs.map(({ id, value }) => ({ id, data: value })) } }),
  );
}

export async function rawWanted(given: readonly string[]): Promise<WantedPredictions> {
  return sent(
    'raw',
    await rawElements(given),
    (tensors) => tensors.reduce((sum, { data }) => sum + data.length, 0),
    (inputs) => {
      const elements = inputs.map(({ id, value }) => ({ id, tensors: [...value] }));
      return { $case: 'elements', value: { elements } };
    },
  );
}

export function datasetWanted(dataset: string): WantedPredictions {
  const [category = '', ...name] = dataset.split('/');
  const value = { category, name: name.join('/') };
  return { total: undefined, dataset: value, predict: (model) => streamAnswers(model, { $case: 'dataset', value }) };
}
