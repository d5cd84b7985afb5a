import type { Command } from 'commander';
import {
  addQuietOption,
  addTableOptions,
  type CommandHost,
  EXIT_REFUSED,
  numberOption,
  type OutputOptions,
  PlatformError,
  prepareOutputs,
  writeShown,
  z,
} from '../../../src/plugin-api.js';
import { compareReports } from '../compare/compare-reports.js';
import { type ComparisonDocument, comparisonDocument, shownComparison } from '../compare/comparison-result.js';
import { readReports } from '../compare/read-reports.js';

/** Aspects of a machine. Times of two machines say nothing about a change of software. */
const OF_MACHINE: ReadonlySet<string> = new Set(['processor', 'architecture', 'cores', 'processor_features']);

interface CompareOptions extends OutputOptions {
  readonly failAbove?: number;
  readonly anyMachine?: boolean;
}

const HELP = `
BEFORE and AFTER are documents that 'run', 'validate' or 'compose' wrote with
--export-json. Models are paired by name, batch and dimensions.

"change" is the time after over the time before. The intervals of a table
contain all changes at once with 95 % probability. "seen from" is the smallest
change that would have been seen. A change is put down to an aspect (a version,
a number of threads) only where nothing else differs. Bricks are paired by
signature: the second table has those that changed, and what they cost in all
models together.

Two measurements an hour apart may differ although nothing was changed. Before
you act on a small change, measure both again, one right after the other.

Examples:
  mlmodelscope dlbricks compare before.json after.json
  mlmodelscope dlbricks compare before.json after.json --fail-above 5`;

/** Models that became slower by more than a limit, as far as their interval shows it. */
function slowerThan({ models }: ComparisonDocument, limitPercent: number): readonly string[] {
  return models.flatMap(({ model, verdict, ratio }) => {
    return verdict === 'slower' && (ratio ?? 0) > 1 + limitPercent / 100 ? [model] : [];
  });
}

/** @throws PlatformError `usage` where a gate would compare two machines, or nothing */
function requireComparable({ aspects, models, before, after }: ComparisonDocument, anyMachine: boolean): void {
  if (models.every(({ reason }) => reason !== null)) {
    const reasons = models.map(({ model, reason }) => `${model}: ${reason ?? ''}`);
    throw new PlatformError('usage', ['--fail-above: no model can be compared', ...reasons].join('\n'));
  }
  const other = aspects.filter(({ aspect }) => OF_MACHINE.has(aspect)).map(({ aspect }) => aspect);
  if (other.length === 0 || anyMachine) return;
  throw new PlatformError(
    'usage',
    `--fail-above: ${before} and ${after} are from different machines (${other.join(', ')}); measure both on one machine, or add --any-machine`,
  );
}

/** `dlbricks compare BEFORE AFTER` */
export function registerCompare(parent: Command, host: CommandHost): void {
  const command = parent
    .command('compare')
    .description('Compare two reports: models, their causes, and the bricks that changed')
    .argument('<before>', 'report that --export-json wrote')
    .argument('<after>', 'report to compare with it');
  addQuietOption(addTableOptions(command))
    .option(
      '--fail-above <percent>',
      'exit with 4 if a model is slower by more than this, and by more than chance explains',
      numberOption(z.number().min(0).max(1e6)),
    )
    .option('--any-machine', 'let --fail-above compare reports of different machines')
    .addHelpText('after', HELP)
    .action(async (before: string, after: string, options: CompareOptions) => {
      const outputs = await prepareOutputs(options);
      const from = await readReports(before);
      const to = await readReports(after);
      const comparison = compareReports(from, to);
      if (comparison.models.length === 0) {
        const { unpaired } = comparison;
        const one = unpaired.before.join(', ') || 'none';
        const other = unpaired.after.join(', ') || 'none';
        const problem = 'the two have no model of the same name, batch and dimensions in common';
        throw new PlatformError('usage', `${problem}; ${before} has: ${one}; ${after} has: ${other}`);
      }
      const document = comparisonDocument(comparison, { before, after });
      if (options.failAbove !== undefined) requireComparable(document, options.anyMachine ?? false);
      await writeShown(shownComparison(document), outputs, host);
      const slower = options.failAbove === undefined ? [] : slowerThan(document, options.failAbove);
      if (slower.length === 0) return;
      host.warn(`slower by more than ${options.failAbove} %: ${slower.join(', ')}`);
      host.setExitCode(EXIT_REFUSED);
    });
}
