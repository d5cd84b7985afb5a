import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { configurationsOf } from '../../bench/suites/configuration.js';
import { suiteDocument } from '../../bench/suites/document.js';
import { type Exported, readExport } from '../../bench/suites/exported.js';
import { figuresOf } from '../../bench/suites/figures.js';
import { SUITES } from '../../bench/suites/suite.js';
import type { BrickShare } from '../../plugins/dlbricks/estimate/compose.js';
import type { EstimateResult, ModelResult } from '../../plugins/dlbricks/report/evaluation-result.js';
import { buildReport } from '../../plugins/dlbricks/report/report.js';
import { buildSweep } from '../../plugins/dlbricks/sweep/sweep-result.js';
import { withTemporaryFolder } from '../onnx/temporary-folder.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from '../plugins/dlbricks/report/sample-result.js';
import { signatureOf } from '../store/sample-measurement.js';
import { near } from '../support/near.js';

const [PAPERS, MODERN] = SUITES as [(typeof SUITES)[number], (typeof SUITES)[number]];

const [FIRST, SECOND, THIRD] = [
  'icpe2020_26_cyclegan_apple_orange',
  'icpe2020_27_cyclegan_horse_zebra',
  'icpe2020_38_super_resolution',
] as const;

function brick(index: number, ms: number): BrickShare {
  const one = {
    count: 2,
    measured: { way: 'alone' as const },
    occasions: 1,
    processes: ['1'],
    tried: 1,
    runs: 5,
    costMs: 1,
  };
  return { signature: signatureOf(index), benchmark: `brick ${index}`, operators: ['Conv'], ms, ...one };
}

interface Sample {
  readonly name: string;
  readonly estimateMs: number;
  readonly measuredMs: number;
  readonly graph: number;
  readonly brick: number;
}

function modelResult({ name, estimateMs, measuredMs, graph, brick: index }: Sample, at: number): ModelResult {
  return {
    estimate: estimateOf(name, estimateMs, { parts: [brick(index, 5)] }),
    endToEnd: endToEndOf(at, measuredMs, 1000, measuredMs),
    graph: signatureOf(graph),
  };
}

/** Two models with the same graph, and a third model. */
const SAMPLES: readonly Sample[] = [
  { name: FIRST, estimateMs: 10, measuredMs: 10, graph: 1, brick: 1 },
  { name: SECOND, estimateMs: 9, measuredMs: 10, graph: 1, brick: 1 },
  { name: THIRD, estimateMs: 42, measuredMs: 40, graph: 2, brick: 2 },
];

function exportedFrom(samples: readonly Sample[], changes: Partial<EstimateResult> = {}): Promise<readonly Exported[]> {
  const report = buildReport(resultOf(samples.map(modelResult), changes), { ...SETTINGS, granularity: 1 });
  return withTemporaryFolder(async (folder) => {
    const path = join(folder, 'report.json');
    await writeFile(path, JSON.stringify(report));
    return readExport(path);
  });
}

describe('the documents of suites', () => {
  test("have the paper's ratio by its own rule, and wall time with identical graphs counted both ways", async () => {
    const [configuration] = configurationsOf(await exportedFrom(SAMPLES), PAPERS.models);
    assert.ok(configuration !== undefined);
    const figures = figuresOf(configuration);
    // One run of the three models, over one run of two bricks.
    assert.equal(figures.paper, (10 + 10 + 40) / (5 + 5));
    // COSTS of the sample: reading 0.25 s, preparing 0.5 s, bricks 3.25 s, models 7.75 s, each model 1 s of it.
    near(figures.wall, (0.25 + 7.75) / (0.25 + 0.5 + 3.25));
    near(figures.wallOnce, (0.25 + 7.75 - 1) / (0.25 + (0.5 * 2) / 3 + 3.25));
    near(figures.asRun, (0.25 + 7.75 + 3.5) / (0.25 + 0.5 + 3.25 + 1.5));
    assert.deepEqual(figures.intervals, { all: 3, holding: 2 }, 'intervals of 1 ms to both sides');
    near(figures.mape_percent, (0 + 10 + 5) / 3);
  });

  test('are made of several exports, where the last export of a model counts, and state no ratio where a part is missing', async () => {
    const before = await exportedFrom(SAMPLES);
    const after = await exportedFrom([{ ...(SAMPLES[2] as Sample), estimateMs: 40 }], { costs: undefined });
    const [configuration, ...others] = configurationsOf([...before, ...after], PAPERS.models);
    assert.ok(configuration !== undefined && others.length === 0);
    assert.deepEqual(
      configuration.models.map(({ name, constructedMs }) => [name, constructedMs]),
      [
        [FIRST, 10],
        [SECOND, 9],
        [THIRD, 40],
      ],
    );
    assert.deepEqual([figuresOf(configuration).wall, figuresOf(configuration).paper], [null, null]);
    assert.deepEqual(configurationsOf(before, MODERN.models), []);
  });

  test("have the paper's column beside ours, name models that are not measured, and keep the analysis that a person wrote", async () => {
    const configurations = configurationsOf(await exportedFrom(SAMPLES), PAPERS.models);
    const analysis = '## Analysis\n\nBy hand.\n';
    const text = suiteDocument(PAPERS, configurations, {
      date: '2026-11-22',
      plots: ['icpe2020/ratios.svg'],
      analysis,
    });
    // Row 38 of the paper: 40 layers, 5 unique, normalized latency 0.988 (the authors' data, see paper.ts).
    assert.match(text, /\| icpe2020_38_super_resolution \| 40 \| 8 \| 5 \| 2 \| 0\.988 \| 1\.050 \| 5\.0 % \| 42\.00 /);
    assert.match(text, /the paper's speedup, by its own rule\) \| 4\.373 \| 6\.00 \| at least 4\.4 \|/);
    assert.match(text, /Not measured: icpe2020_01_ademxapp_a, /);
    assert.ok(text.includes('](icpe2020/ratios.svg)') && text.endsWith(`${analysis.trim()}\n`));
  });

  test('are made of sweeps, too', async () => {
    const result = resultOf(SAMPLES.map(modelResult));
    const swept = (granularity: number) => {
      return { result, report: buildReport(result, { ...SETTINGS, granularity }), isDefault: granularity === 1 };
    };
    const exported = await withTemporaryFolder(async (folder) => {
      const path = join(folder, 'sweep.json');
      await writeFile(path, JSON.stringify(buildSweep([swept(1), swept(2)])));
      return readExport(path);
    });
    const configurations = configurationsOf(exported, PAPERS.models);
    assert.deepEqual(
      configurations.map(({ granularity }) => granularity),
      [1, 2],
    );
    const [one, ...others] = configurationsOf(await exportedFrom(SAMPLES), PAPERS.models);
    assert.ok(one !== undefined && others.length === 0);
    const [first] = configurations;
    assert.deepEqual(first === undefined ? undefined : figuresOf(first), figuresOf(one));
    const text = suiteDocument(PAPERS, configurations, { date: '2026-11-22', plots: [], analysis: '' });
    assert.match(text, /## All cuts and lengths/);
    assert.equal(text.match(/\| icpe2020_38_super_resolution \|/g)?.length, 1, 'models of the shortest bricks only');
  });
});
