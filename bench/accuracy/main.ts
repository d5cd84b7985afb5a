import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import cliProgress from 'cli-progress';
import type { MeasuringContext } from '../../src/measuring/measuring.js';
import { summaryLines } from '../../plugins/dlbricks/report/summary-lines.js';
import { connectAgent } from '../../src/agent/client/agent-client.js';
import { cacheOptimizedGraphs } from '../../src/agent/client/optimized-graph-cache.js';
import { startAgent } from '../../src/agent/services/server.js';
import { machineFolder } from '../../src/cli/machine-folder.js';
import { EXIT_INTERRUPTED } from '../../src/base/exit-codes.js';
import type { EvaluationEvent } from '../../src/plugin-api.js';
import { openStore } from '../../src/store/open-store.js';
import { analysisIn } from '../analysis-in.js';
import { configurations, type TableConfiguration } from './configurations.js';
import { accuracyDocument } from './document.js';
import { calibrationPlot } from '../../plugins/dlbricks/report/interval-scores.js';
import { plotResiduals } from './plot-residuals.js';
import { plotGrowth, plotPredictions } from './plots.js';
import { type TableOutcome, runConfiguration } from './run-configuration.js';
import { TimeLeft } from './time-left.js';

// `make bench-accuracy`: every table and plot of docs/results/accuracy.md. Measurements are kept in out/accuracy, so that an interrupted
// run continues. Remove that folder to measure again.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCS = join(ROOT, 'docs', 'results');
const OUT = join(ROOT, 'out', 'accuracy');
const DOCUMENT = join(DOCS, 'accuracy.md');

function plotsOf({ configuration, report, growth }: TableOutcome): ReadonlyMap<string, string> {
  const { name, threads, batch } = configuration;
  const setting = `${threads === 1 ? 'one thread' : `${threads} threads`}, batch ${batch}`;
  const points = report.models.flatMap(({ name: label, estimate_ms: y, end_to_end_ms: x }) => {
    return x === null || y === null ? [] : [{ x, y, label }];
  });
  const residuals = report.models.flatMap((model) => {
    const { name: label, estimate_ms: estimateMs, end_to_end_ms: measuredMs } = model;
    const { estimate_low_ms: low, estimate_high_ms: high } = model;
    if (measuredMs === null || estimateMs === null) return [];
    return [
      { label, measuredMs, estimateMs, interval: low === null || high === null ? undefined : ([low, high] as const) },
    ];
  });
  return new Map([
    [`accuracy-${name}.svg`, plotPredictions(`Latency of whole models, ${setting}`, points)],
    [`accuracy-${name}-residuals.svg`, plotResiduals(`Error of the estimates, ${setting}`, residuals)],
    [`accuracy-${name}-calibration.svg`, calibrationPlot(`Calibration of the intervals, ${setting}`, report.summary)],
    [`accuracy-${name}-time.svg`, plotGrowth(`Benchmarking time as models are added, ${setting}`, growth)],
  ]);
}

async function runAll(
  all: readonly TableConfiguration[],
  environment: Omit<MeasuringContext, 'onEvent'>,
): Promise<readonly TableOutcome[]> {
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {percentage} %  {left}  {doing}',
      hideCursor: true,
      clearOnComplete: true,
      noTTYOutput: true,
      notTTYSchedule: 10_000,
    },
    cliProgress.Presets.shades_classic,
  );
  const left = new TimeLeft(all.map(({ models }) => models.length));
  bar.start(1000, 0, { left: '', doing: '' });
  const outcomes: TableOutcome[] = [];
  try {
    for (const [index, configuration] of all.entries()) {
      let prepared = false;
      const onEvent = (event: EvaluationEvent): void => {
        if (event.kind === 'planned') prepared = true;
        if (event.kind !== 'measuring') return;
        // Preparing is a small part of the work, and further occasions come after the bar's first full round.
        const done = event.total === 0 ? 0 : event.done / event.total;
        const share = done * (prepared ? 0.9 : 0.05);
        left.update(index, prepared ? 0.05 + share : share, performance.now());
        bar.update(Math.floor(left.share * 1000), { left: left.text, doing: `${configuration.name}: ${event.label}` });
      };
      outcomes.push(await runConfiguration(configuration, { ...environment, onEvent }));
      if (environment.signal.aborted) break;
    }
  } finally {
    bar.stop();
  }
  return outcomes;
}

async function main(): Promise<number> {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
  await mkdir(OUT, { recursive: true });
  const server = await startAgent({ machineFolder: machineFolder() });
  const client = await connectAgent(server.address);
  const store = await openStore(join(OUT, 'store'));
  const agent = cacheOptimizedGraphs(client, join(OUT, 'graphs'));
  try {
    const outcomes = await runAll(await configurations(), { agent, store, signal: interrupt.signal });
    if (interrupt.signal.aborted) {
      console.error('interrupted; everything measured so far is kept, and make bench-accuracy continues from here');
      return EXIT_INTERRUPTED;
    }
    for (const outcome of outcomes) {
      for (const [file, content] of plotsOf(outcome)) await writeFile(join(DOCS, file), content);
    }
    const date = new Date().toISOString().slice(0, 10);
    await writeFile(DOCUMENT, accuracyDocument(outcomes, date, await analysisIn(DOCUMENT)));
    await writeFile(join(OUT, 'reports.json'), JSON.stringify(outcomes.map(({ report }) => report)));
    for (const { configuration, report } of outcomes) {
      console.log(`${configuration.name}:\n${summaryLines([report], { wide: true }).join('\n')}\n`);
    }
    console.log('docs/results/accuracy.md');
    return 0;
  } finally {
    await store.close();
    await client.close();
    await server.close();
  }
}

process.exitCode = await main();
