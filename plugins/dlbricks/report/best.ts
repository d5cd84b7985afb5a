import { formatMs, UNKNOWN } from '../../../src/plugin-api.js';
import { describeRow, isAlike } from './configuration.js';
import { type Row, makeRows } from './columns.js';
import type { Report } from './report-schema.js';
import { relative } from './figures.js';

export const FIGURES = ['latency', 'throughput'] as const;

export interface BestAsked {
  readonly best: (typeof FIGURES)[number];
  readonly withinMs?: number | undefined;
}

type Cell = NonNullable<ReturnType<typeof readCell>>;

/** undefined where the estimate is not complete. */
function readCell({ model, report }: Row, reports: readonly Report[]) {
  const { estimate_ms: ms, estimate_low_ms: lowMs, estimate_high_ms: highMs, coverage } = model;
  if (ms === null || ms <= 0 || coverage < 1) return undefined;
  const name = describeRow(model, report, reports);
  return { name, ms, lowMs: lowMs ?? ms, highMs: highMs ?? ms, batch: report.settings.batch };
}

function describe({ name, ms, highMs, batch }: Cell): string {
  const interval = highMs === ms ? UNKNOWN : relative(highMs - ms, ms);
  return `${name}: ${formatMs(ms)} ms ± ${interval}, ${formatMs((batch * 1000) / ms)} inputs/s`;
}

function bestLine(model: string, cells: readonly Cell[], { best: figure, withinMs = Infinity }: BestAsked): string {
  const costIn = (ms: number, { batch }: Cell): number => (figure === 'throughput' ? ms / batch : ms);
  const sorted = cells.toSorted((a, b) => costIn(a.ms, a) - costIn(b.ms, b));
  const [best, ...others] = sorted.filter(({ ms }) => ms <= withinMs);
  const limit = withinMs === Infinity ? '' : ` within ${withinMs} ms`;
  if (best === undefined) {
    const [fastest] = cells.toSorted((a, b) => a.ms - b.ms);
    if (fastest === undefined) return `${model}: no combination has a complete estimate`;
    return `${model}: no combination${limit}; fastest: ${describe(fastest)}`;
  }
  const alike = others.filter((cell) => costIn(cell.lowMs, cell) <= costIn(best.highMs, best)).map(({ name }) => name);
  const caution = alike.length === 0 ? '' : `; intervals overlap with: ${alike.join('; ')}`;
  return `${model}: best ${figure}${limit}: ${describe(best)}${caution}`;
}

/** Names the best cell of each model. Without a question, the one with the highest throughput of several batches. */
export function bestLines(reports: readonly Report[], asked: BestAsked | undefined): readonly string[] {
  const areBatches = !isAlike(reports, ({ settings }) => settings.batch);
  const question = asked ?? (areBatches ? ({ best: 'throughput' } as const) : undefined);
  if (question === undefined) return [];
  const rows = makeRows(reports);
  return [...new Set(rows.map(({ model }) => model.name))].map((name) => {
    const cells = rows.filter(({ model }) => model.name === name).flatMap((row) => readCell(row, reports) ?? []);
    return bestLine(name, cells, question);
  });
}
