import { counted, groupedBy, runtimeText } from '../../../src/plugin-api.js';
import { DEFAULT_SETTINGS, wordsOfCut } from '../report/configuration.js';

/** What pairs a row of the first side with one of the second. */
export interface Row {
  readonly model: string;
  readonly batch: number;
  /** As in `seq=128, past=0`; '' for none. */
  readonly dimensions: string;
  /** undefined where rows are paired whatever their numbers of threads. */
  readonly threads: number | undefined;
  /** Of the runtime, and of the cut; undefined where rows are paired whatever they are. */
  readonly settings: string | undefined;
}

export interface LabelledRow extends Row {
  readonly label: string;
}

export function describeSettings(
  runtime: Parameters<typeof runtimeText>[0],
  cutting: Readonly<Record<string, unknown>>,
): string {
  const { cut, granularity } = cutting;
  const ofRuntime = runtimeText(runtime) || DEFAULT_SETTINGS;
  if (cut !== 'kernel' && cut !== 'layer') return ofRuntime;
  return `${ofRuntime}, ${wordsOfCut({ cut, granularity: typeof granularity === 'number' ? granularity : 1 })}`;
}

export function rowKey({ model, batch, dimensions, threads, settings }: Row): string {
  return JSON.stringify([model, batch, dimensions, threads, settings]);
}

function labelAmong({ model, batch, dimensions, threads, settings = '' }: Row, rows: readonly Row[]): string {
  const isShared = (has: (row: Row) => boolean): boolean => rows.every(has);
  const hasOneBatch = isShared((row) => row.batch === batch);
  const parts = dimensions.split(', ').filter((part) => {
    if (part === '') return false;
    // A dimension of the batch's size is shown as the batch.
    if (!hasOneBatch && part.endsWith(`=${batch}`)) return false;
    return !isShared((row) => row.dimensions.split(', ').includes(part));
  });
  return [
    model,
    ...(hasOneBatch ? [] : [`batch ${batch}`]),
    ...parts,
    ...(threads === undefined || isShared((row) => row.threads === threads) ? [] : [counted(threads, 'thread')]),
    ...settings.split(', ').filter((part) => !isShared((row) => (row.settings ?? '').split(', ').includes(part))),
  ].join(', ');
}

/** By key. A model with several rows has with each what tells it apart, in words: "net, batch 1, 2 threads". */
export function labelRows(rows: readonly Row[]): ReadonlyMap<string, string> {
  const ofModels = groupedBy(rows, ({ model }) => model);
  return new Map(rows.map((row) => [rowKey(row), labelAmong(row, ofModels.get(row.model) ?? [])]));
}
