import type { Prediction } from '../../agent/client/prediction-client.js';
import { sumOf } from '../../base/sum-of.js';
import { type GivenInput, type OpenedModel, predictGiven, type Sending, streamAnswers } from './given-inputs.js';
import { pictureFiles } from './picture-files.js';
import type { PublishedPredictions } from './publish.js';
import { rawElements } from './raw-elements.js';

export interface WantedPredictions {
  readonly total: number | undefined;
  readonly dataset: PublishedPredictions['dataset'];
  readonly predict: (model: OpenedModel) => AsyncIterable<Prediction>;
}

/** Inputs that the command sends, with many in each call. */
function sent<Item extends { readonly id: string }>(
  kind: 'images' | 'urls' | 'raw',
  given: readonly GivenInput<Item>[],
  sending: Sending<Item>,
): WantedPredictions {
  const predict = (model: OpenedModel) => predictGiven(given, sending, model);
  return { total: given.length, dataset: { category: '', name: kind }, predict };
}

export async function imagesWanted(paths: readonly string[]): Promise<WantedPredictions> {
  return sent('images', await pictureFiles(paths), {
    bytesOf: ({ data }) => data.length,
    toInputs: (images) => ({ $case: 'images', value: { images } }),
  });
}

export function urlsWanted(addresses: readonly string[]): WantedPredictions {
  const given = addresses.map((address) => ({ id: address, read: () => ({ id: address, data: address }) }));
  return sent('urls', given, {
    bytesOf: ({ data }) => data.length,
    toInputs: (urls) => ({ $case: 'urls', value: { urls } }),
  });
}

export async function rawWanted(given: readonly string[]): Promise<WantedPredictions> {
  return sent('raw', await rawElements(given), {
    bytesOf: ({ tensors }) => sumOf(tensors.map(({ data }) => data.length)),
    toInputs: (elements) => ({ $case: 'elements', value: { elements } }),
  });
}

export function datasetWanted(dataset: string): WantedPredictions {
  const [category = '', ...name] = dataset.split('/');
  const value = { category, name: name.join('/') };
  return { total: undefined, dataset: value, predict: (model) => streamAnswers(model, { $case: 'dataset', value }) };
}
