import type { Image } from '../../generated/mlmodelscope/org/dlframework/features.js';
import type {
  DatasetRequest_Dataset as WireDataset,
  URLsRequest_URL as WireUrl,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import type { Element } from '../../generated/mlmodelscope/prediction/v1/prediction.js';
import { requireImageInput } from '../../registry/image-input.js';
import type { PredictionModel } from '../../registry/prediction-model.js';
import { isPublicAddress } from '../../http/public-address.js';
import { type Batches, imageBatches, madeUpBatches } from './batches.js';
import { datasetFiles, readDatasetFile, SYNTHETIC, syntheticCount } from './dataset.js';
import { chooseInputId, requireInputs } from './request.js';
import { tensorBatches } from './tensors.js';
import { fetchUrl } from './url.js';

export interface PredictAccess {
  readonly datasetsFolder?: string | undefined;
  readonly isAllowedAddress?: ((address: string) => boolean) | undefined;
}

export interface InputsFor {
  readonly model: PredictionModel;
  readonly batchSize: number;
  readonly signal: AbortSignal;
}

interface MadeInputs {
  readonly total: number;
  readonly batches: Batches;
}

/** Makes the batches of one call. @throws PlatformError where the model takes no such inputs, or there are none */
export type MakeInputs = (call: InputsFor) => MadeInputs | Promise<MadeInputs>;

export type PredictInputs = ReturnType<typeof predictInputs>;

/** @param access files and addresses that clients may read */
export function predictInputs({ datasetsFolder, isAllowedAddress = isPublicAddress }: PredictAccess) {
  return {
    images:
      (images: readonly Image[]): MakeInputs =>
      ({ model, batchSize, signal }) => {
        requireInputs(images, 'images');
        requireImageInput(model);
        const elements = images.map((image, index) => ({ id: chooseInputId(image, index), fetch: () => image.data }));
        return { total: images.length, batches: imageBatches(elements, batchSize, signal) };
      },

    urls:
      (urls: readonly WireUrl[]): MakeInputs =>
      ({ model, batchSize, signal }) => {
        requireInputs(urls, 'urls');
        requireImageInput(model);
        const elements = urls.map((url, index) => ({
          id: chooseInputId(url, index),
          fetch: (maxBytes: number) => fetchUrl(url.data, { maxBytes, isAllowed: isAllowedAddress, signal }),
        }));
        return { total: urls.length, batches: imageBatches(elements, batchSize, signal) };
      },

    dataset:
      ({ category, name }: WireDataset = { category: '', name: '' }): MakeInputs =>
      async ({ model, batchSize, signal }) => {
        if (category === SYNTHETIC) {
          const total = syntheticCount(name, batchSize);
          return { total, batches: madeUpBatches(total, batchSize) };
        }
        requireImageInput(model);
        const files = await datasetFiles(datasetsFolder, category, name);
        const elements = files.map((file) => ({
          id: file.id,
          fetch: (maxBytes: number) => readDatasetFile(file, maxBytes),
        }));
        return { total: files.length, batches: imageBatches(elements, batchSize, signal) };
      },

    elements:
      (elements: readonly Element[]): MakeInputs =>
      ({ model, batchSize }) => {
        requireInputs(elements, 'elements');
        return { total: elements.length, batches: tensorBatches(elements, { model, batchSize, idOf: chooseInputId }) };
      },
  };
}
