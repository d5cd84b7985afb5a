import { PlatformError } from '../base/errors.js';
import type { ImageSteps } from '../manifest/steps.js';
import type { PredictionInput, PredictionModel } from './prediction-model.js';

/** @throws PlatformError `model` for further inputs, or without steps for pictures */
export function requireImageInput({ name, inputs }: PredictionModel): PredictionInput & { readonly steps: ImageSteps } {
  const [input] = inputs;
  if (input?.steps !== undefined && inputs.length === 1) return { ...input, steps: input.steps };
  const problem = inputs.length === 1 ? 'its manifest has no steps for its input' : `it has ${inputs.length} inputs`;
  throw new PlatformError('model', `${name} cannot be given pictures: ${problem}; use a synthetic dataset`);
}
