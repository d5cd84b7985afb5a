import { readFile } from 'node:fs/promises';
import type { Cut } from '../../plugins/dlbricks/cut/cut.js';
import { type Report, reportSchema, reportsSchema } from '../../plugins/dlbricks/report/report-schema.js';
import { type Sweep, sweepSchema } from '../../plugins/dlbricks/sweep/sweep-result.js';
import { z } from '../../src/plugin-api.js';

/** The data of one model in an export. Times are in ms where their names do not say seconds. */
export interface ExportedModel {
  readonly name: string;
  readonly layers: number;
  readonly uniqueBricks: number;
  readonly coverage: number;
  readonly constructedMs: number | null;
  readonly lowMs: number | null;
  readonly highMs: number | null;
  readonly measuredMs: number | null;
  readonly normalized: number | null;
  /** Signature of its graph; models that differ only in their weights have the same one. */
  readonly graph: string | null;
  readonly preparingSeconds: number | null;
  readonly wholeSeconds: number | null;
}

/** The data of one cut, one length of bricks and one configuration in an export. */
export interface Exported {
  readonly cut: Cut;
  readonly granularity: number;
  readonly batch: number;
  readonly system: Report['system'];
  readonly summary: Report['summary'];
  readonly models: readonly ExportedModel[];
}

function ofReport({ settings, system, summary, models }: Report): Exported {
  return {
    cut: settings.cut,
    granularity: settings.granularity,
    batch: settings.batch,
    system,
    summary,
    models: models.map((model) => ({
      name: model.name,
      layers: model.layers,
      uniqueBricks: model.unique_bricks,
      coverage: model.coverage,
      constructedMs: model.estimate_ms,
      lowMs: model.estimate_low_ms,
      highMs: model.estimate_high_ms,
      measuredMs: model.end_to_end_ms,
      normalized: model.normalized_latency,
      graph: model.graph_signature,
      preparingSeconds: model.preparing_seconds,
      wholeSeconds: model.end_to_end_seconds,
    })),
  };
}

function ofSweep({ system, batch, configurations }: Sweep): readonly Exported[] {
  return configurations.map(({ cut, granularity, summary, models }) => ({
    cut,
    granularity,
    batch,
    system,
    summary,
    models: models.map((row) => ({
      name: row.model,
      layers: row.layers,
      uniqueBricks: row.unique_bricks,
      coverage: row.coverage,
      constructedMs: row.constructed_ms,
      lowMs: row.constructed_low_ms,
      highMs: row.constructed_high_ms,
      measuredMs: row.measured_ms,
      normalized: row.normalized_latency,
      graph: row.graph_signature,
      preparingSeconds: row.preparing_seconds,
      wholeSeconds: row.end_to_end_seconds,
    })),
  }));
}

const exportSchema = z.union([sweepSchema, reportsSchema, reportSchema]);

/**
 * Reads an export that `--export-json` of `dlbricks run`, `validate` or `sweep` wrote.
 *
 * @throws Error for a file that is none of these
 */
export async function readExport(path: string): Promise<readonly Exported[]> {
  const parsed = exportSchema.safeParse(JSON.parse(await readFile(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path}: expected an export of 'dlbricks run', 'validate' or 'sweep'`);
  const { data } = parsed;
  if ('configurations' in data) return ofSweep(data);
  return 'reports' in data ? data.reports.map(ofReport) : [ofReport(data)];
}
