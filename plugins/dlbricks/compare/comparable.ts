import type { EstimatedBricks, runtimeText } from '../../../src/plugin-api.js';
import type { ModelReport, Report } from '../report/report-schema.js';

export type ComparableBrick = EstimatedBricks['bricks'][number];

export type ComparableModel = Pick<
  ModelReport,
  | 'name'
  | 'dimensions'
  | 'graph_signature'
  | 'coverage'
  | 'estimate_ms'
  | 'estimate_low_ms'
  | 'estimate_high_ms'
  | 'end_to_end_ms'
> & { readonly bricks: readonly ComparableBrick[] };

export interface Warning {
  readonly cause: string;
  readonly message: string;
}

export interface Comparable {
  readonly system: { readonly fingerprint: string; readonly threads: number } & Parameters<typeof runtimeText>[0] &
    Readonly<Record<string, unknown>>;
  readonly settings: { readonly batch: number } & Readonly<Record<string, unknown>>;
  readonly summary: Pick<Report['summary'], 'spread_percent'> & Partial<Pick<Report['summary'], 'no_interval_reason'>>;
  readonly provenance: {
    readonly tool: { readonly version: string };
    readonly host: string | null;
    readonly surroundings: NonNullable<Report['provenance']>['surroundings'];
    readonly models: readonly {
      readonly name: string;
      readonly weights: 'own' | 'made_up' | null;
      readonly file_sha256: string | null;
    }[];
  } | null;
  readonly warnings?: readonly Warning[];
  readonly models: readonly ComparableModel[];
  /** Why models have no bricks, and the remedy; undefined where all have them. */
  readonly withoutBricks?: string | undefined;
}
