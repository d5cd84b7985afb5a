import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { loadManifest } from '../../../src/manifest/load.js';
import { orThrow } from '../../../src/manifest/problem.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { ICPE2020 } from '../../../src/zoo/architectures/icpe2020/index.js';
import { zooSizes } from '../support/zoo-sizes.js';
import { buildZooModel } from '../../../src/zoo/zoo.js';

interface Rows {
  /**
   * Rows of table 1 of the paper (Li et al., DLBricks, ICPE 2020) that have the same graph except for their weights.
   */
  readonly ids: readonly number[];
  readonly layers: number;
  /** How many layers of each kind they have. */
  readonly kinds: string;
  /** How many more, or fewer, layers of a kind the zoo has; the manifests say why. */
  readonly differences?: Readonly<Record<string, number>>;
  /** Shapes of the outputs for one image. */
  readonly outputs: readonly (readonly number[])[];
}

/*
 * Layers by kind: counted in the models that the authors measured (github.com/rai-project/synthetic_benchmark, state of
 * 2019-10-18). Elementwise are all layers with arithmetic on single elements: ElementwiseLayer, ThreadingLayer,
 * TotalLayer, ConstantPlusLayer and ConstantTimesLayer; Reshape are ReshapeLayer and FlattenLayer.
 */
const ROWS: readonly Rows[] = [
  {
    ids: [1],
    layers: 142,
    kinds: '43 Convolution, 5 Pooling, 37 BatchNormalization, 54 Elementwise, 1 Aggregation, 1 Linear, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [2, 3],
    layers: 40,
    kinds: '13 Convolution, 15 Elementwise, 5 Pooling, 1 Reshape, 3 Linear, 2 Dropout, 1 Softmax',
    outputs: [[101]],
  },
  {
    ids: [4],
    layers: 53,
    kinds:
      '2 Convolution, 20 Elementwise, 1 Transpose, 5 Reshape, 8 Aggregation, 8 Replicate, 1 ConstantArray, ' +
      '2 Softmax, 1 SequenceLast, 1 Ordering, 1 Extract, 3 Linear',
    differences: {
      Elementwise: 15,
      Reshape: 3,
      Aggregation: 4,
      Unsqueeze: 10,
      Replicate: 2,
      Softmax: 1,
      ConstantArray: -1,
      SequenceLast: -1,
    },
    outputs: [[10], [1, 28, 28]],
  },
  {
    ids: [5],
    layers: 40,
    kinds: '13 Convolution, 15 Elementwise, 5 Pooling, 1 Reshape, 3 Linear, 2 Dropout, 1 Softmax',
    outputs: [[2]],
  },
  {
    ids: [6],
    layers: 147,
    kinds:
      '57 Convolution, 57 Elementwise, 4 Padding, 14 Pooling, 2 LocalResponseNormalization, 9 Catenate, ' +
      '1 Dropout, 1 Reshape, 1 Linear, 1 Softmax',
    outputs: [[5]],
  },
  {
    ids: [7],
    layers: 147,
    kinds:
      '57 Convolution, 57 Elementwise, 4 Padding, 14 Pooling, 2 LocalResponseNormalization, 9 Catenate, ' +
      '1 Dropout, 1 Reshape, 1 Linear, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [8],
    layers: 147,
    kinds:
      '57 Convolution, 57 Elementwise, 4 Padding, 14 Pooling, 2 LocalResponseNormalization, 9 Catenate, ' +
      '1 Dropout, 1 Reshape, 1 Linear, 1 Softmax',
    outputs: [[365]],
  },
  {
    ids: [9],
    layers: 311,
    kinds:
      '94 Convolution, 94 BatchNormalization, 94 Elementwise, 14 Pooling, 11 Catenate, 1 Reshape, ' +
      '1 Linear, 1 Part, 1 Softmax',
    outputs: [[1001]],
  },
  {
    ids: [10],
    layers: 153,
    kinds: '53 Convolution, 52 BatchNormalization, 45 Elementwise, 1 Pooling, 1 Reshape, 1 Softmax',
    outputs: [[1001]],
  },
  {
    ids: [11],
    layers: 347,
    kinds:
      '104 Convolution, 104 BatchNormalization, 133 Elementwise, 1 Padding, 2 Pooling, 1 Reshape, ' +
      '1 Linear, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [12],
    layers: 344,
    kinds: '102 BatchNormalization, 104 Convolution, 134 Elementwise, 1 Pooling, 1 Aggregation, 1 Linear, 1 Softmax',
    outputs: [[15527]],
  },
  {
    ids: [13],
    layers: 517,
    kinds:
      '155 Convolution, 155 BatchNormalization, 201 Elementwise, 1 Padding, 2 Pooling, 1 Reshape, ' +
      '1 Linear, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [14],
    layers: 177,
    kinds:
      '53 Convolution, 53 BatchNormalization, 65 Elementwise, 1 Padding, 2 Pooling, 1 Reshape, 1 Linear, ' +
      '1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [15],
    layers: 874,
    kinds:
      '157 Convolution, 157 BatchNormalization, 353 Elementwise, 1 Padding, 2 Pooling, 50 Aggregation, ' +
      '101 Linear, 50 Replicate, 1 Dropout, 1 Reshape, 1 Softmax',
    differences: { Unsqueeze: 50 },
    outputs: [[1000]],
  },
  {
    ids: [16],
    layers: 69,
    kinds:
      '26 Convolution, 26 Elementwise, 3 Pooling, 8 Catenate, 2 Padding, 1 Dropout, 1 Aggregation, ' +
      '1 Reshape, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [17],
    layers: 40,
    kinds: '13 Convolution, 15 Elementwise, 5 Pooling, 1 Reshape, 3 Linear, 2 Dropout, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [18],
    layers: 46,
    kinds: '16 Convolution, 18 Elementwise, 5 Pooling, 1 Reshape, 3 Linear, 2 Dropout, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [19],
    layers: 176,
    kinds: '53 Convolution, 53 BatchNormalization, 65 Elementwise, 2 Pooling, 1 Reshape, 1 Linear, 1 Softmax',
    outputs: [[1000]],
  },
  {
    ids: [20],
    layers: 232,
    kinds: '69 Convolution, 69 BatchNormalization, 69 Elementwise, 13 Pooling, 10 Catenate, 1 Linear, 1 Softmax',
    differences: { Reshape: 1 },
    outputs: [[4315]],
  },
  {
    ids: [21],
    layers: 177,
    kinds:
      '53 Convolution, 53 BatchNormalization, 65 Elementwise, 1 Padding, 2 Pooling, 1 Reshape, 1 Linear, ' +
      '1 Softmax',
    outputs: [[2]],
  },
  {
    ids: [22],
    layers: 109,
    kinds: '27 Padding, 27 Convolution, 34 Elementwise, 6 Pooling, 6 Aggregation, 6 Replicate, 3 Resize',
    differences: { Elementwise: 3, Unsqueeze: 6 },
    outputs: [[3, 512, 512]],
  },
  {
    ids: [23],
    layers: 58,
    kinds: '23 Convolution, 24 Elementwise, 7 BatchNormalization, 1 Deconvolution, 2 Transpose, 1 Softmax',
    outputs: [[2, 56, 56]],
  },
  {
    ids: [24, 25],
    layers: 62,
    kinds: '24 Convolution, 28 Elementwise, 4 Resize, 1 Reshape, 3 Linear, 1 Replicate, 1 Catenate',
    differences: { Elementwise: 1, Unsqueeze: 1 },
    outputs: [[2, 224, 224]],
  },
  {
    ids: [26, 27, 28, 29, 31, 33, 34, 35],
    layers: 94,
    kinds: '25 Elementwise, 20 Padding, 22 Convolution, 23 Normalization, 2 Deconvolution, 2 Part',
    differences: { Elementwise: 3 },
    outputs: [[3, 256, 256]],
  },
  {
    ids: [30, 32],
    layers: 96,
    kinds: '25 Elementwise, 22 Padding, 22 Convolution, 23 Normalization, 2 Deconvolution, 2 Part',
    differences: { Elementwise: 3 },
    outputs: [[3, 256, 256]],
  },
  {
    ids: [36, 37],
    layers: 56,
    kinds: '17 Elementwise, 8 Convolution, 13 Normalization, 8 Deconvolution, 3 Dropout, 7 Catenate',
    differences: { Elementwise: 3 },
    outputs: [[3, 256, 256]],
  },
  {
    ids: [38],
    layers: 40,
    kinds: '20 Convolution, 19 Elementwise, 1 Transpose',
    outputs: [[255, 255, 1]],
  },
  {
    ids: [39],
    layers: 145,
    kinds:
      '35 Convolution, 42 Elementwise, 5 Pooling, 2 Padding, 26 Reshape, 7 Softmax, 10 Part, 15 Transpose, ' +
      '3 Catenate',
    differences: { Elementwise: 9 },
    outputs: [
      [8732, 20],
      [8732, 2, 2],
    ],
  },
  {
    ids: [40],
    layers: 157,
    kinds: '39 Convolution, 44 Elementwise, 5 Pooling, 30 Reshape, 8 Softmax, 11 Part, 17 Transpose, 3 Catenate',
    differences: { Elementwise: 9 },
    outputs: [
      [24564, 80],
      [24564, 2, 2],
    ],
  },
  {
    ids: [41],
    layers: 106,
    kinds:
      '23 Convolution, 22 BatchNormalization, 28 Elementwise, 5 Padding, 5 Pooling, 6 Reshape, ' +
      '4 Transpose, 3 Catenate, 6 Part, 1 Softmax, 3 ConstantArray',
    differences: { ConstantArray: -3 },
    outputs: [[845, 80], [845], [845, 4]],
  },
  {
    ids: [42, 43],
    layers: 967,
    kinds: '438 Elementwise, 194 Convolution, 184 BatchNormalization, 118 Catenate, 17 Pooling, 16 Resize',
    outputs: [[68, 64, 64]],
  },
  {
    ids: [44, 45, 46],
    layers: 501,
    kinds: '156 Convolution, 155 BatchNormalization, 159 Elementwise, 4 Pooling, 22 Catenate, 4 Resize, 1 Part',
    outputs: [[240, 320]],
  },
  {
    ids: [47],
    layers: 1029,
    kinds: '276 Convolution, 273 BatchNormalization, 462 Elementwise, 9 Pooling, 9 Resize',
    outputs: [[200, 192, 192]],
  },
  {
    ids: [48],
    layers: 141,
    kinds: '45 Convolution, 37 BatchNormalization, 55 Elementwise, 2 Dropout, 1 Transpose, 1 Softmax',
    outputs: [[63, 63, 150]],
  },
  {
    ids: [49],
    layers: 141,
    kinds: '45 Convolution, 37 BatchNormalization, 55 Elementwise, 2 Dropout, 1 Transpose, 1 Softmax',
    outputs: [[63, 63, 21]],
  },
  {
    ids: [50],
    layers: 53,
    kinds: '24 Convolution, 22 Elementwise, 3 Pooling, 2 Dropout, 1 Transpose, 1 Softmax',
    outputs: [[66, 91, 11]],
  },
];

const KINDS: ReadonlyMap<string, string> = new Map([
  ['ArgMax', 'Ordering'],
  ['AveragePool', 'Pooling'],
  ['BatchNormalization', 'BatchNormalization'],
  ['Concat', 'Catenate'],
  ['Conv', 'Convolution'],
  ['ConvTranspose', 'Deconvolution'],
  ['Dropout', 'Dropout'],
  ['Expand', 'Replicate'],
  ['Flatten', 'Reshape'],
  ['Gather', 'Part'],
  ['GatherND', 'Extract'],
  ['Gemm', 'Linear'],
  ['InstanceNormalization', 'Normalization'],
  ['LRN', 'LocalResponseNormalization'],
  ['MaxPool', 'Pooling'],
  ['Pad', 'Padding'],
  ['ReduceMean', 'Aggregation'],
  ['ReduceSum', 'Aggregation'],
  ['Reshape', 'Reshape'],
  ['Resize', 'Resize'],
  ['Slice', 'Part'],
  ['Softmax', 'Softmax'],
  ['Transpose', 'Transpose'],
  ['Unsqueeze', 'Unsqueeze'],
]);

function kindsOf({ graph }: Model): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { opType } of graph.nodes) {
    const kind = KINDS.get(opType) ?? 'Elementwise';
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function countsOf(text: string): [string, number][] {
  return text.split(', ').map((entry) => {
    const [count = '', kind = ''] = entry.split(' ');
    return [kind, Number(count)];
  });
}

/** The paper's counts with the differences. Kinds without layers are left out. */
function expectedKinds({ kinds, differences = {} }: Rows): Map<string, number> {
  const counts = new Map(countsOf(kinds));
  for (const [kind, more] of Object.entries(differences)) counts.set(kind, (counts.get(kind) ?? 0) + more);
  return new Map([...counts].filter(([, count]) => count > 0));
}

const sorted = (counts: ReadonlyMap<string, number>): [string, number][] => [...counts].sort();

test('the paper has fifty models of 10,815 layers', () => {
  const ids = ROWS.flatMap((rows) => rows.ids).sort((a, b) => a - b);
  assert.deepEqual(
    ids,
    Array.from({ length: 50 }, (_, i) => i + 1),
  );
  assert.equal(ICPE2020.length, 50);
  assert.equal(
    ROWS.reduce((sum, { ids: { length }, layers }) => sum + length * layers, 0),
    10_815,
  );
  for (const { layers, kinds } of ROWS) {
    assert.equal(
      countsOf(kinds).reduce((sum, [, count]) => sum + count, 0),
      layers,
    );
  }
});

for (const rows of ROWS) {
  for (const id of rows.ids) {
    const entry = ICPE2020[id - 1] ?? assert.fail(`no row ${id}`);
    const { name, title, multiplyAccumulates } = entry;
    describe(name, () => {
      const model = buildZooModel(name);

      test('has the layers of the paper', () => {
        assert.deepEqual(sorted(kindsOf(model)), sorted(expectedKinds(rows)));
      });

      test('gives results of the same shapes', () => {
        const shapes = model.graph.outputs.map((output) => model.graph.types.get(output)?.dims?.slice(1));
        assert.deepEqual(shapes, rows.outputs);
      });

      test('has as many multiply-accumulates as its authors counted', () => {
        if (multiplyAccumulates === undefined) return;
        assert.equal(zooSizes(entry).multiplyAccumulates, multiplyAccumulates);
      });

      test('has a manifest with its row, and with the differences', async () => {
        const path = new URL(`../../../../manifests/models/icpe2020/${name}.yml`, import.meta.url).pathname;
        const { attributes } = orThrow(await loadManifest(path, ['model'])).manifest;
        assert.deepEqual(
          [attributes['paper_id'], attributes['paper_name'], attributes['paper_layers']].map(String),
          [id, title, rows.layers].map(String),
        );
        assert.match(String(attributes['paper_task']), /^(IC|IP|OD|RG|SS)$/);
        if (rows.differences !== undefined) assert.match(String(attributes['differences']), /\.$/);
      });
    });
  }
}

test('the documentation has a line for each', async () => {
  const page = await readFile(new URL('../../../../docs/zoo.md', import.meta.url), 'utf8');
  for (const rows of ROWS) {
    for (const id of rows.ids) {
      const entry = ICPE2020[id - 1] ?? assert.fail(`no row ${id}`);
      const { layers, parameters, multiplyAccumulates } = zooSizes(entry);
      const giga = (multiplyAccumulates / 1e9).toFixed(3);
      const cells = [id, `\`zoo:${entry.name}\``, rows.layers, layers, parameters.toLocaleString('en-US'), giga];
      const pattern = cells.map((cell) => String(cell).replaceAll('.', '\\.')).join(' *\\| *');
      assert.match(page, new RegExp(`\\| *${pattern} *\\|`));
    }
  }
});
