import type { FeaturesResponse } from '../../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import {
  ExecutionOptions,
  PredictionOptions,
  type Predictor,
  PredictService,
} from '../../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import { rawClient } from './raw-client.js';

/** The options that a client may set; the rest is left unset. */
export interface Options extends Partial<Omit<PredictionOptions, 'executionOptions'>> {
  readonly executionOptions?: Partial<ExecutionOptions>;
}

function optionsOf({ executionOptions = {}, ...options }: Options): PredictionOptions {
  const inner = { ...ExecutionOptions.create(), ...executionOptions };
  return { ...PredictionOptions.create(), ...options, executionOptions: inner };
}

function predictorOf(id: string): Predictor {
  return { id, duration: undefined };
}

/** The features found, without ids and times, which differ with every call. */
export function foundIn({ responses }: FeaturesResponse) {
  return responses.map(({ inputId, features }) => ({
    inputId,
    features: features.map(({ type, probability, metadata, feature }) => ({ type, probability, metadata, feature })),
  }));
}

/** A client of an agent's predictions. */
export function predictClient(address: string) {
  const client = rawClient(address);
  return {
    async open(modelName: string, options: Options = {}): Promise<string> {
      const request = { modelName, modelVersion: '', frameworkName: '', frameworkVersion: '', persist: false };
      return (await client.unary(PredictService.open, { ...request, options: optionsOf(options) })).id;
    },

    closeModel(id: string, force = false) {
      return client.unary(PredictService.close, { predictor: predictorOf(id), force });
    },

    reset(id: string) {
      return client.unary(PredictService.reset, { predictor: predictorOf(id), id: '' });
    },

    /** Pictures are called `picture 0`, `picture 1` and so on. */
    images(id: string, data: readonly Uint8Array[], options: Options = {}): Promise<FeaturesResponse> {
      const images = data.map((bytes, i) => ({ id: `picture ${i}`, data: bytes }));
      const request = { predictor: predictorOf(id), images, options: optionsOf(options) };
      return client.unary(PredictService.images, request);
    },

    /** URLs have no ids. */
    urls(id: string, addresses: readonly string[], options: Options = {}): Promise<FeaturesResponse> {
      const urls = addresses.map((data) => ({ id: '', data }));
      return client.unary(PredictService.urLs, { predictor: predictorOf(id), urls, options: optionsOf(options) });
    },

    dataset(id: string, category: string, name: string, options: Options = {}): Promise<FeaturesResponse> {
      const request = { predictor: predictorOf(id), dataset: { category, name }, options: optionsOf(options) };
      return client.unary(PredictService.dataset, request);
    },

    close: () => client.close(),
  };
}

export type PredictClient = ReturnType<typeof predictClient>;
