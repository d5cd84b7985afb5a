import { counted } from '../../../src/plugin-api.js';
import type { Report } from './report-schema.js';

/** The cut and granularity of a report, in words. */
export function cutOf({ settings: { cut, granularity } }: Report): string {
  return `${cut} cut, G = ${granularity}`;
}

/** Whether a value is the same in all reports. */
export function isAlike(reports: readonly Report[], of: (report: Report) => unknown): boolean {
  return new Set(reports.map(of)).size <= 1;
}

/** The settings by which a report differs from the others of a command, in words: "batch 1, 2 threads". */
export function configurationOf(report: Report, among: readonly Report[]): string {
  const { evaluation, settings, system } = report;
  const parts = [
    ...(evaluation === null || isAlike(among, (each) => each.evaluation) ? [] : [evaluation]),
    `batch ${settings.batch}, ${counted(system.threads, 'thread')}`,
    ...(isAlike(among, cutOf) ? [] : [cutOf(report)]),
  ];
  return parts.join(', ');
}
