import { createHash } from 'node:crypto';
import { classifier, LABELS, type TinyModel, tinyModelFile, TOKENS } from '../../agent/support/prediction-models.js';
import type { Workplace } from './command.js';

/** Writes a model with its manifest, and returns the manifest's path. */
async function manifestOf(
  place: Workplace,
  name: string,
  model: TinyModel,
  { inputs, outputs }: { readonly inputs: readonly object[]; readonly outputs: readonly object[] },
): Promise<string> {
  const file = tinyModelFile(model);
  await place.write(`${name}.onnx`, file);
  const checksum = createHash('sha256').update(file).digest('hex');
  const manifest = {
    dlspec: 'model/v1',
    name,
    version: '1.0.0',
    framework: { name: 'onnxruntime', version: '>=1' },
    inputs,
    outputs,
    dimensions: Object.fromEntries(
      Object.values(model.inputs)
        .flat()
        .filter((dimension) => typeof dimension === 'string' && dimension !== 'batch')
        .map((dimension) => [dimension, 2]),
    ),
    model: { graph_path: `${name}.onnx`, checksum },
  };
  return place.write(`${name}.yml`, JSON.stringify(manifest));
}

/** Manifest of a classifier of 4 by 4 pixels, with {@link LABELS}. */
export async function classifierManifest(place: Workplace): Promise<string> {
  await place.write('labels.txt', LABELS.join('\n'));
  const steps = [{ decode: {} }, { resize: { height: 4, width: 4 } }, { normalize: { mean: 128, scale: 64 } }];
  return manifestOf(place, 'classifier', classifier('batch'), {
    inputs: [{ layer_name: 'picture', element_type: 'float32', dimensions: ['batch', 3, 4, 4], steps }],
    outputs: [
      {
        layer_name: 'scores',
        element_type: 'float32',
        dimensions: ['batch', 5],
        steps: [{ softmax: {} }, { top_k: { k: 2, labels: 'labels.txt' } }],
      },
    ],
  });
}

/** Manifest of a model of tokens, whose output is as the steps make it; without steps, it is logits. */
export function tokensManifest(place: Workplace, steps?: readonly object[]): Promise<string> {
  return manifestOf(place, 'tokens', TOKENS, {
    inputs: [{ layer_name: 'tokens', element_type: 'int64', dimensions: ['batch', 'words'] }],
    outputs: [
      { layer_name: 'logits', element_type: 'float32', dimensions: ['batch', 'words', 3], ...(steps && { steps }) },
    ],
  });
}

/**
 * Manifest of a model that returns its inputs, so that a test sets the outputs of a detector or segmenter. The first
 * output has the steps.
 */
export function echoManifest(
  place: Workplace,
  name: string,
  dims: Readonly<Record<string, readonly (number | string)[]>>,
  steps: readonly object[],
): Promise<string> {
  const names = Object.keys(dims);
  const model: TinyModel = {
    inputs: Object.fromEntries(names.map((output) => [`${output}_in`, ['batch', ...(dims[output] ?? [])]])),
    nodes: names.map((output) => ({ opType: 'Identity', inputs: [`${output}_in`], outputs: [output] })),
    outputs: names,
  };
  const tensor = (layer: string, output: string) => {
    return { layer_name: layer, element_type: 'float32', dimensions: ['batch', ...(dims[output] ?? [])] };
  };
  return manifestOf(place, name, model, {
    inputs: names.map((output) => tensor(`${output}_in`, output)),
    outputs: names.map((output, i) => ({ ...tensor(output, output), ...(i === 0 && { steps }) })),
  });
}
