import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import type { ModelReport, Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { estimateOf, resultOf, SETTINGS } from '../report/sample-result.js';

const [SAMPLE] = buildReport(resultOf([{ estimate: estimateOf('sample', 10), endToEnd: undefined }]), SETTINGS).models;

type Brick = Pick<ModelReport['bricks'][number], 'signature' | 'latency_ms' | 'sequences'>;

/** A model of a report, measured completely. */
export function modelReport(name: string, changes: Partial<ModelReport>, bricks: readonly Brick[] = []): ModelReport {
  if (SAMPLE === undefined) throw new Error('a report without a model');
  const common = {
    operators: ['Conv'],
    measured: 'together',
    copies: null,
    is_predicted: false,
    on_longest_path: null,
    occasions: 1,
    runs: 5,
  } as const;
  const ofBricks = bricks.map((brick) => ({ ...common, operators: [...common.operators], ...brick }));
  return { ...SAMPLE, name, coverage: 1, missing: [], bricks: ofBricks, ...changes };
}

/** A report of these models on one system. */
export function comparedReport(
  system: Partial<Report['system']>,
  models: readonly ModelReport[],
  { spread_percent = 1 }: Partial<Pick<Report['summary'], 'spread_percent'>> = {},
): Report {
  const report = buildReport(resultOf([]), SETTINGS);
  return {
    ...report,
    system: { ...report.system, framework_version: '1.27.0', ...system },
    models: [...models],
    summary: { ...report.summary, spread_percent },
  };
}
