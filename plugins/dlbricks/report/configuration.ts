import { counted, runtimeText } from '../../../src/plugin-api.js';
import type { ModelReport, Report } from './report-schema.js';

export interface Cutting {
  readonly cut: 'kernel' | 'layer';
  readonly granularity: number;
}

export function wordsOfCut({ cut, granularity }: Cutting): string {
  return granularity === 1 ? `one ${cut} a brick` : `up to ${granularity} ${cut}s a brick`;
}

export function describeCut({ settings }: Report): string {
  return wordsOfCut(settings);
}

interface Parts {
  readonly sequences: number;
  readonly unique: number;
  /** More than sequences where models of short kernels are cut into longer ones; 0 where not known. */
  readonly kernels: number;
}

/** @param layers of the models, in words */
export function partsInWords(
  layers: string,
  { sequences, unique, kernels }: Parts,
  cuttings: readonly Cutting[],
): string {
  const ways = new Set(
    cuttings.map(({ cut, granularity }) => {
      if (granularity > 1) return `, cut into ${counted(sequences, 'sequence')} of up to ${granularity} ${cut}s`;
      if (cut === 'layer') return '';
      const joined = kernels > sequences ? ` in ${counted(sequences, 'sequence')}` : '';
      return `, run as ${counted(Math.max(kernels, sequences), 'kernel')}${joined}`;
    }),
  );
  const [first = ''] = ways;
  const way = ways.size === 1 ? first : `, cut into ${counted(sequences, 'sequence')}`;
  return `${layers}${way}; ${unique} different ${unique === 1 ? 'one (brick)' : 'ones (bricks)'}`;
}

export const DEFAULT_SETTINGS = 'default settings';

export function describeRuntime({ system }: Report): string {
  return runtimeText(system);
}

export function isAlike(reports: readonly Report[], of: (report: Report) => unknown): boolean {
  return new Set(reports.map(of)).size <= 1;
}

/** The settings by which a report differs from the others of a command, in words: "batch 1, 2 threads". */
export function describeConfiguration(report: Report, among: readonly Report[]): string {
  const { evaluation, settings, system } = report;
  const parts = [
    ...(evaluation === null || isAlike(among, (each) => each.evaluation) ? [] : [evaluation]),
    `batch ${settings.batch}, ${counted(system.threads, 'thread')}`,
    ...(isAlike(among, describeCut) ? [] : [describeCut(report)]),
    ...(isAlike(among, describeRuntime) ? [] : [describeRuntime(report) || DEFAULT_SETTINGS]),
  ];
  return parts.join(', ');
}

export function describeSizes(sizes: readonly ModelReport['dimensions'][number][]): string {
  return sizes.map(({ name, size }) => `${name}=${size}`).join(', ');
}

/** The sizes of a model's named dimensions that differ among reports, in words: "seq=128". */
export function describeDimensions(
  { dimensions }: ModelReport,
  { settings }: Report,
  among: readonly Report[],
): string {
  const all = among.flatMap((report) => report.models.flatMap((model) => model.dimensions));
  const differs = (name: string): boolean =>
    new Set(all.flatMap((one) => (one.name === name ? one.size : []))).size > 1;
  // A dimension of the batch's size is shown as the batch.
  const shown = dimensions.filter(({ name, size }) => size !== settings.batch && differs(name));
  return describeSizes(shown);
}

/** Which of a command's combinations a model's row is of, in words: "batch 1, 2 threads, seq=128". */
export function describeRow(model: ModelReport, report: Report, among: readonly Report[]): string {
  return [describeConfiguration(report, among), describeDimensions(model, report, among)].filter(Boolean).join(', ');
}

/** The same for all models of a report. */
export function describeCombination(report: Report, among: readonly Report[]): string {
  const sizes = new Set(report.models.map((model) => describeDimensions(model, report, among)));
  return [describeConfiguration(report, among), ...sizes].filter(Boolean).join(', ');
}
