import {
  type CommandHost,
  PlatformError,
  prepareOutputs,
  buildProvenance,
  remeasureAsked,
  writeExports,
  measuringContext,
  setMeasuringExit,
} from '../../../src/plugin-api.js';
import { differencesBetween, describeOptimizedFor } from '../exchange/optimized-for.js';
import { resultsText } from '../exchange/results-file.js';
import { readSuite } from '../exchange/suite.js';
import { measureSuite } from '../measure/measure-suite.js';
import { parseMeasureSettings, refuseCutOptions, type SweepMeasuringOptions } from './options.js';

export async function runSuite(folder: string, options: SweepMeasuringOptions, host: CommandHost): Promise<void> {
  const { exportCsv, exportMarkdown, exportHtml, traceOut, exportSvg, exportDot } = options;
  if ((exportCsv ?? exportMarkdown ?? exportHtml ?? traceOut ?? exportSvg ?? exportDot) !== undefined) {
    throw new PlatformError('usage', '--suite has results for --export-json only; compose makes tables of them');
  }
  const ofModels = (['measure', 'check', 'best', 'within'] as const).find((key) => options[key] !== undefined);
  if (ofModels !== undefined) {
    throw new PlatformError('usage', `--${ofModels} is for models; --suite measures all bricks, without estimates`);
  }
  refuseCutOptions(options, '--suite');
  const { threads: [threads, ...moreThreads] = [] } = options;
  if (moreThreads.length > 0) throw new PlatformError('usage', '--suite takes one number of --threads at a time');
  const agent = await host.connect(options.agent, options.framework);
  const suite = await readSuite(folder);
  const { exports, quiet } = await prepareOutputs(options);
  const settings = parseMeasureSettings({ ...options, threads }, agent.description);
  const here = describeOptimizedFor(agent.description);
  const differences = suite.optimizedFor === undefined ? [] : differencesBetween(suite.optimizedFor, here);
  for (const difference of differences) host.warn(`warning: ${difference}`);
  const store = await host.openStore(options.store);
  const progress = host.progress(quiet);
  const context = measuringContext({ agent, store }, progress, host);
  const remeasure = remeasureAsked(options.remeasure);
  const result = await measureSuite(suite, settings, context, remeasure).finally(() => progress.stop());
  const reasons = { protocol: 'measurements', stack: 'system of the measurements' };
  const provenance = buildProvenance({ agent, reasons });
  await writeExports(() => resultsText(result.measurements, provenance), exports, host);
  const { length: found } = result.measurements;
  const failed = result.measurements.filter(({ outcome }) => outcome.kind === 'failure').length;
  progress.note(`${found} measurements of the suite's bricks, ${result.measured} of them taken now; ${failed} failed`);
  if (exports.length === 0)
    progress.note('the results are in the store; --export-json FILE writes them for their owner');
  setMeasuringExit(host, { isInterrupted: result.interrupted, isPartial: failed > 0, remeasure });
}
