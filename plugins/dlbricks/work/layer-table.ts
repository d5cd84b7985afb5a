import {
  type AnalysisTable,
  counted,
  groupedBy,
  type LayerGraph,
  provenanceField,
  type Shown,
  shownTable,
  type TotalWork,
  totalWork,
  type WorkOfLayer,
  workOfLayers,
  z,
} from '../../../src/plugin-api.js';

const FORMAT = 'dlbricks-layers/1';

const count = z.number().min(0);

const workFields = {
  multiply_accumulates: count.nullable().describe('Products that are summed'),
  operations: count.nullable().describe('All arithmetic; a multiply-accumulate is two'),
  parameters: count.describe('Elements of weights'),
  parameter_bytes: count.describe('Of constant inputs'),
  activation_bytes: count.describe('Of the other inputs'),
  output_bytes: count,
  intensity: count.nullable().describe('Operations for each byte, each value counted once'),
};

const layerSchema = z.strictObject({
  model: z.string(),
  index: z.int().min(0),
  name: z.string(),
  operator: z.string(),
  shape: z.string().describe('Of its outputs'),
  ...workFields,
  uncounted: z.string().nullable().describe('Why its operations are null'),
});

const totalSchema = z.strictObject({
  model: z.string(),
  layers: z.int().min(0),
  ...workFields,
  uncounted_layers: z.int().min(0).describe('Their operations are not in the total'),
});

export const layersSchema = z.strictObject({
  format: z.literal(FORMAT),
  provenance: provenanceField,
  models: z.array(totalSchema),
  layers: z.array(layerSchema),
});

type LayersDocument = z.infer<typeof layersSchema>;

export type Layers = Pick<LayersDocument, 'models' | 'layers'>;

function computeFields(work: Pick<WorkOfLayer, keyof TotalWork & keyof WorkOfLayer>) {
  const bytes = work.parameterBytes + work.activationBytes + work.outputBytes;
  return {
    multiply_accumulates: work.multiplyAccumulates ?? null,
    operations: work.operations ?? null,
    parameters: work.parameters,
    parameter_bytes: work.parameterBytes,
    activation_bytes: work.activationBytes,
    output_bytes: work.outputBytes,
    intensity: work.operations === undefined || bytes === 0 ? null : work.operations / bytes,
  };
}

export function countLayerWork(graphs: readonly { readonly name: string; readonly graph: LayerGraph }[]): Layers {
  const ofModels = graphs.map(({ name, graph }) => {
    const works = workOfLayers(graph);
    const total = totalWork(graph, works);
    const layers = works.map((work, index) => ({
      model: name,
      index,
      name: work.node.name,
      operator: work.node.opType,
      shape: work.shapes.map((dims) => `[${dims?.join(',') ?? '?'}]`).join(';'),
      ...computeFields(work),
      uncounted: work.uncounted ?? null,
    }));
    return {
      total: { model: name, layers: layers.length, ...computeFields(total), uncounted_layers: total.uncountedLayers },
      layers,
    };
  });
  return { models: ofModels.map(({ total }) => total), layers: ofModels.flatMap(({ layers }) => layers) };
}

export function layersDocument(layers: Layers, provenance: LayersDocument['provenance']): LayersDocument {
  return { format: FORMAT, provenance, ...layers };
}

/** From here on, three digits behind the point of a billion show a count to a hundredth. */
const BILLIONS_FROM = 1e8;

function formatCount(value: number | null): string {
  if (value === null) return 'an unknown number of';
  return value < BILLIONS_FROM ? value.toLocaleString('en-US') : `${(value / 1e9).toFixed(3)}·10⁹`;
}

function listNotes({ models, layers }: Layers): string[] {
  return models.flatMap((total) => {
    const { model, uncounted_layers: uncounted } = total;
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 3 : 1)} MB`;
    const ofWeights = `${total.parameters.toLocaleString('en-US')} parameters (${megabytes(total.parameter_bytes)})`;
    const intensity = total.intensity === null ? '' : `, ${total.intensity.toFixed(2)} operations for each byte`;
    const line = `${model}: ${counted(total.layers, 'layer')}, ${formatCount(total.multiply_accumulates)} multiply-accumulates, ${formatCount(total.operations)} operations, ${ofWeights}${intensity}`;
    if (uncounted === 0) return [line];
    const left = layers.filter((layer) => layer.model === model && layer.uncounted !== null);
    const groups = groupedBy(left, ({ operator, uncounted: reason }) => `${operator} (${reason})`);
    const which = [...groups].map(([what, of]) => `${of.length} x ${what}`).join(', ');
    return [line, `${model}: the total is without ${counted(uncounted, 'layer')}: ${which}`];
  });
}

function layersTable(layers: Layers): AnalysisTable {
  const number = (key: string, title: string, unit?: string): AnalysisTable['columns'][number] => {
    return { key, title, ...(unit !== undefined && { unit }), align: 'right' };
  };
  const text = (key: string, title = key): AnalysisTable['columns'][number] => ({ key, title, align: 'left' });
  const several = layers.models.length > 1;
  const columns = [
    ...(several ? [text('model')] : []),
    number('index', 'layer'),
    text('operator'),
    number('operations', 'operations'),
    number('multiply_accumulates', 'multiply-accumulates'),
    number('parameter_bytes', 'parameters', 'bytes'),
    number('activation_bytes', 'activations', 'bytes'),
    number('output_bytes', 'output', 'bytes'),
    number('intensity', 'intensity', 'operations/byte'),
    text('shape'),
    text('name'),
  ];
  const rows = layers.layers.map((layer) =>
    Object.fromEntries(columns.map(({ key }) => [key, layer[key as keyof typeof layer]])),
  );
  return { columns, rows, notes: listNotes(layers) };
}

export function shownLayers(document: LayersDocument): Shown {
  const title = `Work of the layers of ${document.models.map(({ model }) => model).join(', ')}`;
  return shownTable(layersTable(document), { document, title });
}
