import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/**
 * The DLBricks authors' own measurements on c5.xlarge (state of 2019-10-18 of rai-project/synthetic_benchmark), if they
 * lie beside the project: see the README there. Times are microseconds, indices 1-based, ranges inclusive.
 */
export const FOLDER = join(import.meta.dirname, '../../../../../../shared/data/icpe2020');

export const skip = existsSync(FOLDER) ? false : 'there is no ../shared/data/icpe2020 beside the project';

/** Models whose graph is known to be a plain chain (README). */
const CHAINS = new Set([2, 3, 5, 17, 18, 23, 38, 50]);

async function text(name: string): Promise<string> {
  return gunzipSync(await readFile(join(FOLDER, name))).toString('utf8');
}

async function lines<T>(name: string): Promise<readonly T[]> {
  return (await text(name))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

type Fields = Readonly<Record<string, string>>;

/** Records of a CSV whose quoted fields hold no line ends. */
async function csv(name: string): Promise<readonly Fields[]> {
  const [header = '', ...rest] = (await text(name)).trim().split(/\r?\n/);
  const columns = header.split(',');
  return rest.map((line) => {
    const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
    );
    return Object.fromEntries(columns.map((column, i) => [column, fields[i] ?? '']));
  });
}

/** Numbers in a Wolfram Language list of lists, or of one list, or one number. */
function shapesIn(list: string): number[][] | undefined {
  if (/[a-z]/i.test(list)) return undefined;
  const inner = [...list.matchAll(/\{([\d, ]*)\}/g)].map(([, dims = '']) => dims.split(',').map(Number));
  return inner.length > 0 ? inner : [[Number(list)]];
}

/** The shape of the weights, which the record does not have, from the parameters of the layer. */
function weightShape(kind: string, fields: Fields, form: string): number[] | undefined {
  const cin = Number(fields['input_channel']);
  const cout = Number(fields['output_channel']);
  const kernel = [fields['kernel_1'], fields['kernel_2']]
    .filter((size) => size !== undefined && size !== '')
    .map(Number);
  const groups = Number(/"ChannelGroups" -> (\d+)/.exec(form)?.[1] ?? 1);
  if (kind === 'Convolution') return [cout, cin / groups, ...kernel];
  if (kind === 'Deconvolution') return [cin, cout, ...kernel];
  if (kind !== 'Linear') return undefined;
  const inputs = /"Input" -> (.*)\]$/.exec(form)?.[1];
  const [dims = []] = inputs === undefined ? [] : (shapesIn(inputs) ?? []);
  return [cout, dims.reduce((product, dim) => product * dim, 1)];
}

/** The facts of the table about a layer, besides its place. */
function factsOf(fields: Fields): Readonly<Record<string, unknown>> {
  const { kind = '', input_form: form = '' } = fields;
  const inputs = shapesIn(/"Inputs?" -> (.*)\]$/.exec(form)?.[1] ?? 'none');
  const outputs = ['output_channel', 'output_height', 'output_width'].flatMap((key) =>
    fields[key] === '' ? [] : [Number(fields[key])],
  );
  const weights = weightShape(kind, fields, form);
  const counts = ['add_flops', 'div_flops', 'cmp_flops', 'exp_flops'].map((key) => Number(fields[key]));
  const operations = counts.reduce((sum, count) => sum + count, 2 * Number(fields['mad_flops']));
  const isWhole = (shape: readonly number[]): boolean => shape.every((dim) => Number.isInteger(dim));
  return {
    op: kind,
    signature: `class ${fields['class']}`,
    attributes: { form },
    ...(inputs?.every(isWhole) === true ? { input_shapes: weights === undefined ? inputs : [...inputs, weights] } : {}),
    ...(outputs.length > 0 && isWhole(outputs) ? { output_shapes: [outputs] } : {}),
    ...(Number.isFinite(operations) && operations > 0 ? { operations } : {}),
  };
}

interface ModelLayers {
  readonly id: number;
  readonly model: string;
  readonly layers: readonly (readonly [index: number, name: string, kind: string, sig: number])[];
}

/** The measurements that a table is made of. */
export type Protocol = 'paper' | 'isolated';

/**
 * Converts the measurements of one granularity into a layer table: a description of every layer of every model, the
 * trimmed means of measured layers, and whole models. Models are in the order of their ids, layers in the order of
 * their places.
 *
 * @param protocol of single layers: the paper's, or each in a process of its own
 */
export async function writeLayerTable(path: string, granularity: number, protocol: Protocol = 'paper'): Promise<void> {
  const signatures = new Map(
    (await csv('signatures.csv.gz')).map((fields) => [Number(fields['sig']), factsOf(fields)]),
  );
  const models = await lines<ModelLayers>('layers.jsonl.gz');
  const whole = new Map(
    (await lines<{ id: number; raw: number[] }>('end_to_end.jsonl.gz')).map(({ id, raw }) => [id, raw]),
  );
  const measured = new Map<number, readonly Readonly<Record<string, unknown>>[]>();
  if (protocol === 'isolated') {
    type Row = [index: number, min: number, tmean: number, max: number];
    for (const { id, rows } of await lines<{ id: number; rows: Row[] }>('isolated.jsonl.gz')) {
      measured.set(
        id,
        rows.map(([index, , tmean]) => ({ index, last: index, duration_us: tmean })),
      );
    }
  } else if (granularity === 1) {
    type Row = [index: number, name: string, kind: string, min: number, tmean: number];
    for (const { id, rows } of await lines<{ id: number; rows: Row[] }>('g1.jsonl.gz')) {
      measured.set(
        id,
        rows.map(([index, , , , tmean]) => ({ index, last: index, duration_us: tmean, runs: 50 })),
      );
    }
  } else {
    type Row = [start: number, end: number, tmean: number];
    for (const { id, G, rows } of await lines<{ id: number; G: number; rows: Row[] }>('sequences.jsonl.gz')) {
      if (G !== granularity) continue;
      measured.set(
        id,
        rows.map(([index, last, tmean]) => ({ index, last, granularity, duration_us: tmean, runs: 50 })),
      );
    }
  }
  const rows: object[] = [];
  for (const { id, model, layers } of models) {
    for (const [index, name, , sig] of layers) {
      const after = CHAINS.has(id) && index > 1 ? { after: [index - 1] } : {};
      rows.push({ model, index, name, ...signatures.get(sig), ...after });
    }
    for (const row of measured.get(id) ?? []) rows.push({ model, ...row });
    rows.push({ model, durations_us: whole.get(id) ?? [] });
  }
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
