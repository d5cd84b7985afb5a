import { availableParallelism } from 'node:os';
import { readdir } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zooEntry } from '../../src/zoo/zoo.js';

/** One table of the document. */
export interface TableConfiguration {
  /** Part of its file names: accuracy-NAME.svg. */
  readonly name: string;
  readonly threads: number;
  readonly batch: number;
  readonly models: readonly ReferencedModel[];
}

export interface ReferencedModel {
  /** The reference, as on the command line. */
  readonly reference: string;
  readonly name: string;
  /** Multiply-accumulates of one inference; undefined where they were not published. */
  readonly multiplyAccumulates?: number;
}

/** The list is fixed, so that figures of different days are comparable. */
const MODELS = [
  'alexnet',
  'vgg16',
  'vgg19',
  'squeezenet1.1',
  'resnet18',
  'resnet50',
  'inception_v1',
  'inception_v3',
  'densenet121',
  'mobilenet_v2',
  'bert_base',
  'gpt2',
  'vit_b_16',
];

/** Models with less work than this are measured in batches as well. */
const SMALL_MULTIPLY_ACCUMULATES = 4e9;

const BATCH = 8;

/** Folder beside the project for further graphs, for example the ONNX project's light models. It may be absent. */
const BESIDE = fileURLToPath(new URL('../../../../shared/models/', import.meta.url));

async function modelsBeside(): Promise<readonly ReferencedModel[]> {
  const files = await readdir(BESIDE).catch(() => []);
  return files
    .filter((file) => extname(file) === '.onnx')
    .sort()
    .map((file) => ({ reference: `${BESIDE}${file}`, name: basename(file, '.onnx') }));
}

/** Every model with one thread and with two, and the small ones in batches. */
export async function configurations(): Promise<readonly TableConfiguration[]> {
  const zoo = MODELS.map((name) => {
    const { multiplyAccumulates = Infinity } = zooEntry(name);
    return { reference: `zoo:${name}`, name, multiplyAccumulates };
  });
  const beside = await modelsBeside();
  const small = zoo.filter(({ multiplyAccumulates }) => multiplyAccumulates < SMALL_MULTIPLY_ACCUMULATES);
  const threadCounts = [1, 2].filter((threads) => threads <= availableParallelism());
  return [
    ...threadCounts.map((threads) => ({ name: `threads-${threads}`, threads, batch: 1, models: [...zoo, ...beside] })),
    ...threadCounts.map((threads) => ({
      name: `threads-${threads}-batch-${BATCH}`,
      threads,
      batch: BATCH,
      models: small,
    })),
  ];
}
