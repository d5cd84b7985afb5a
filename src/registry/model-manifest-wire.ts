import type * as wire from '../generated/carml/org/dlframework/registry.js';
import type { ModelManifest, ModelTensor } from '../manifest/index.js';

/** The contract's name of an input or output with only element type and dimensions. */
const TENSOR = 'tensor';

function toWireType({ layer_name, element_type, dimensions }: ModelTensor): wire.ModelManifest_Type {
  const known = {
    layer_name: String(layer_name),
    ...(element_type === undefined ? {} : { element_type }),
    ...(dimensions === undefined ? {} : { dimensions: `[${dimensions.join(',')}]` }),
  };
  const parameters = Object.fromEntries(Object.entries(known).map(([name, value]) => [name, { value }]));
  return { type: TENSOR, description: '', parameters };
}

/**
 * A manifest as the platform's contract has it, in which every parameter is a text. The contract knows one output; the
 * others are left out, and so is the code around a model, which manifests here don't have.
 */
export function toWireModelManifest(manifest: ModelManifest): wire.ModelManifest {
  const { name, version, framework, inputs, outputs, model, task } = manifest;
  const [output] = outputs;
  const attributes = Object.entries(manifest.attributes).map(([key, value]): [string, string] => [key, String(value)]);
  return {
    name,
    version,
    framework: { name: framework.name, version: framework.version, container: {} },
    container: {},
    description: manifest.description ?? '',
    reference: manifest.references,
    license: manifest.license ?? '',
    inputs: inputs.map(toWireType),
    output: output === undefined ? undefined : toWireType(output),
    beforePreprocess: '',
    preprocess: '',
    afterPreprocess: '',
    beforePostprocess: '',
    postprocess: '',
    afterPostprocess: '',
    model: {
      baseUrl: '',
      weightsPath: '',
      graphPath: model.graph_path,
      isArchive: false,
      weightsChecksum: '',
      graphChecksum: model.checksum?.digest ?? '',
    },
    attributes: Object.fromEntries([...(task === undefined ? [] : [['task', task] as const]), ...attributes]),
    hidden: false,
  };
}
