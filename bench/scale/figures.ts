import { z } from 'zod';
import { groupedBy } from '../../src/base/grouped-by.js';
import { median } from '../../src/base/mean.js';
import type { ToldItem } from './platform.js';
import type { ProcessFigures, ProcessRole } from './processes.js';

const roleFiguresSchema = z.strictObject({
  processes: z.int(),
  /** Processor time of all of them during the run. */
  cpuMs: z.number(),
  /** Memory of one process: the largest peak, and the median share at the end of the run. */
  peakBytes: z.number(),
  shareBytes: z.number(),
});

/** The processes of one role together. */
export type RoleFigures = Readonly<z.infer<typeof roleFiguresSchema>>;

export const runFiguresSchema = z.strictObject({
  bricks: z.int(),
  /** All waits divided by the number of agents. */
  idealMs: z.number(),
  /** From the submission to the last event of the last evaluation, as its client sees it. */
  wallMs: z.number(),
  items: z.int(),
  /** Median time of an agent from the end of one item's wait to the beginning of the next. */
  gapMs: z.number().nullable(),
  /** From the submission until the first agent waits, and from the end of the last wait to the end. Earlier files have neither. */
  beforeMs: z.number().optional(),
  afterMs: z.number().optional(),
  roles: z.record(z.string(), roleFiguresSchema),
});

/** One run of a benchmark. */
export type RunFigures = Readonly<z.infer<typeof runFiguresSchema>>;

/** The median of some values; null for none. */
export function medianOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : median(values);
}

function rolesOf(processes: readonly ProcessFigures[]): Record<string, RoleFigures> {
  return Object.fromEntries(
    [...groupedBy(processes, ({ role }) => role)].map(([role, ones]) => [
      role,
      {
        processes: ones.length,
        cpuMs: ones.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
        peakBytes: Math.max(...ones.map(({ peakBytes }) => peakBytes)),
        shareBytes: medianOf(ones.map(({ shareBytes }) => shareBytes)) ?? 0,
      },
    ]),
  );
}

export function runFiguresOf(seen: {
  readonly bricks: number;
  readonly idealMs: number;
  readonly wallMs: number;
  /** Times since the submission. */
  readonly items: readonly ToldItem[];
  readonly processes: readonly ProcessFigures[];
}): RunFigures {
  const { bricks, idealMs, wallMs, items, processes } = seen;
  const gapMs = medianOf(items.flatMap((item) => item.gapMs ?? []));
  const beforeMs = Math.min(...items.map(({ toldMs, waitedMs }) => toldMs - waitedMs));
  const afterMs = wallMs - Math.max(...items.map(({ toldMs }) => toldMs));
  return { bricks, idealMs, wallMs, items: items.length, gapMs, beforeMs, afterMs, roles: rolesOf(processes) };
}

/** Overhead of a run: the time beyond the ideal, relative to the ideal; 0.1 is 10 %. */
export function overheadOf({ wallMs, idealMs }: RunFigures): number {
  return wallMs / idealMs - 1;
}

/** Processor time of a role for each brick, over all runs; ms. */
export function cpuMsPerBrick(runs: readonly RunFigures[], role: ProcessRole): number | null {
  return medianOf(runs.flatMap(({ roles, bricks }) => (roles[role] === undefined ? [] : roles[role].cpuMs / bricks)));
}
