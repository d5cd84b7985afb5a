import type * as wire from '../generated/carml/org/dlframework/registry.js';
import { ANY_FRAMEWORK } from '../manifest/fields.js';
import type { ModelInput, ModelOutput, ModelManifest, ModelTensor } from '../manifest/model.js';
import { sizeAfter } from '../manifest/steps.js';
import type { RunningFramework } from './load-model.js';

type Parameters = Readonly<Record<string, string | undefined>>;

function typeWith(type: string, parameters: Parameters): wire.ModelManifest_Type {
  const known = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { type, description: '', parameters: Object.fromEntries(known.map(([name, value]) => [name, { value }])) };
}

function list(values: readonly (string | number)[] | undefined): string | undefined {
  return values === undefined ? undefined : `[${values.join(',')}]`;
}

function tensorType({ layer_name, element_type, dimensions }: ModelTensor): wire.ModelManifest_Type {
  return typeWith('tensor', { layer_name: String(layer_name), element_type, dimensions: list(dimensions) });
}

/** The platform writes channels, height and width in every layout. */
function toWireInput(input: ModelInput): wire.ModelManifest_Type {
  const { steps, layer_name, element_type } = input;
  const size = steps === undefined ? undefined : sizeAfter(steps);
  if (steps === undefined || size === undefined) return tensorType(input);
  return typeWith('image', {
    input_layer: String(layer_name),
    element_type,
    layout: steps.layout,
    color_mode: steps.colorMode,
    dimensions: list([3, size.height, size.width]),
    mean: list(steps.mean),
    scale: list(steps.scale),
  });
}

function toWireOutput(output: ModelOutput): wire.ModelManifest_Type {
  const { steps, layer_name, element_type, dimensions } = output;
  if (steps === undefined) return tensorType(output);
  const layer = String(layer_name);
  const common = { element_type, dimensions: list(dimensions), features_path: steps.labels };
  switch (steps.kind) {
    case 'classes': {
      const probabilities_transform = steps.softmax ? 'softmax' : undefined;
      return typeWith('classification', { probabilities_layer: layer, ...common, probabilities_transform });
    }
    case 'boxes': {
      const { scores, classes, masks } = steps;
      const layers = { boxes_layer: layer, probabilities_layer: scores, classes_layer: classes };
      if (masks === undefined) return typeWith('boundingbox', { ...layers, ...common });
      return typeWith('instancesegment', { ...layers, masks_layer: masks.masks, ...common });
    }
    case 'segments':
      return typeWith('semanticsegment', { masks_layer: layer, ...common });
  }
}

function toWireFiles({ graph_path, checksum }: ModelManifest['model']): wire.ModelManifest['model'] {
  const graph = { graphPath: graph_path ?? '', graphChecksum: checksum?.digest ?? '' };
  return { ...graph, baseUrl: '', weightsPath: '', isArchive: false, weightsChecksum: '' };
}

/**
 * An older manifest keeps what it wrote, so that it can be joined with stored documents. The contract has one output:
 * others are left out, and so is code around a model.
 *
 * @param runsOn the framework that is named where the manifest accepts any
 */
export function toWireModelManifest(
  manifest: ModelManifest,
  runsOn: Pick<RunningFramework, 'framework' | 'frameworkVersion'>,
): wire.ModelManifest {
  const { name, framework, inputs, outputs, task, published } = manifest;
  const [output] = outputs;
  const attributes = Object.entries(manifest.attributes).map(([key, value]): [string, string] => [key, String(value)]);
  const needed =
    framework === ANY_FRAMEWORK
      ? { name: runsOn.framework, version: runsOn.frameworkVersion }
      : { name: manifest.written?.framework ?? framework.name, version: framework.version };
  return {
    name,
    version: manifest.written?.version ?? manifest.version,
    framework: { ...needed, container: {} },
    container: {},
    description: manifest.description ?? '',
    reference: manifest.references,
    license: manifest.license ?? '',
    inputs: published?.inputs ?? inputs.map(toWireInput),
    output: published?.output ?? (output && toWireOutput(output)),
    beforePreprocess: '',
    preprocess: '',
    afterPreprocess: '',
    beforePostprocess: '',
    postprocess: '',
    afterPostprocess: '',
    model: published?.model ?? toWireFiles(manifest.model),
    attributes: Object.fromEntries([...(task === undefined ? [] : [['task', task] as const]), ...attributes]),
    hidden: published?.hidden ?? false,
  };
}
