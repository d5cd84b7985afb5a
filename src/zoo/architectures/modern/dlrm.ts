import { int } from '../../../onnx/model/make-attributes.js';
import type { Network, Value } from '../../builder.js';
import { linear } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { embedding } from '../../initialization.js';
import { entry } from '../../shaping.js';
import {
  chain,
  concat,
  gatherRows,
  type Layer,
  matMul,
  relu,
  reshape,
  sigmoid,
  transpose,
  unsqueeze,
} from '../../tensor.js';

interface DlrmSize {
  readonly dense: number;
  readonly tables: readonly number[];
  readonly features: number;
  readonly bottom: readonly number[];
  readonly top: readonly number[];
}

function hidden(widths: readonly number[]): Layer {
  return chain(...widths.map((width) => chain(linear(width), relu)));
}

function interactions(vectors: Value, count: number): Value {
  const products = matMul(vectors, transpose(vectors, [0, 2, 1]));
  const pairs = Array.from({ length: count }, (_, i) => Array.from({ length: i }, (_, j) => i * count + j)).flat();
  const all = reshape(products, [0, count * count]);
  const output = all.dims.with(1, pairs.length);
  return all.graph.apply('Gather', [all, all.graph.integers('pairs', pairs)], output, [int('axis', 1)]);
}

/** Each example has one entry of each category: an embedding bag would sum nothing. */
export function dlrm({ dense, tables, features, bottom, top }: DlrmSize): Network {
  return (graph) => {
    const numbers = graph.input('dense', 'float32', ['batch', dense]);
    const indices = graph.input('categories', 'int64', ['batch', tables.length]);
    const vector = hidden([...bottom, features])(numbers);
    const looked = tables.map((rows, i) => gatherRows(embedding(graph, [rows, features]), entry(1, i)(indices)));
    const vectors = concat(1, [unsqueeze(vector, [1]), ...looked.map((row) => unsqueeze(row, [1]))]);
    const joined = concat(1, [vector, interactions(vectors, tables.length + 1)]);
    graph.output('probability', chain(hidden(top), linear(1), sigmoid)(joined));
  };
}

/** Of the Criteo Kaggle data set. */
const CRITEO = [
  1460, 583, 10_131_227, 2_202_608, 305, 24, 12_517, 633, 3, 93_145, 5683, 8_351_593, 3194, 27, 14_992, 5_461_306, 10,
  5652, 2173, 4, 7_046_547, 18, 15, 286_181, 105, 142_572,
];

export const dlrmCriteo: ZooEntry = {
  name: 'dlrm_criteo',
  title: 'DLRM, Criteo Kaggle',
  paper: 'Naumov et al., Deep Learning Recommendation Model, 2019, arXiv:1906.00091',
  parameters: 540_677_217,
  multiplyAccumulates: 486_032,
  source:
    'the paper says about 540M parameters (section 5.1); both numbers follow from bench/dlrm_s_criteo_kaggle.sh of ' +
    'github.com/facebookresearch/dlrm: tables 16 wide, 13-512-256-64-16 and 512-256-1',
  dimensions: { batch: 1 },
  define: dlrm({ dense: 13, tables: CRITEO, features: 16, bottom: [512, 256, 64], top: [512, 256] }),
};
