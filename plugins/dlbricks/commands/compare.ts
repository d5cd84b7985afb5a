import type { Command } from 'commander';
import { join } from 'node:path';
import {
  addAllowVersionOption,
  addBatchOption,
  addInputOptions,
  addProtocolOptions,
  addQuietOption,
  addStoreOption,
  addTableOptions,
  type CommandHost,
  EXIT_PARTIAL,
  EXIT_REFUSED,
  numberFrom,
  percentOption,
  type OutputOptions,
  parseModelReference,
  PlatformError,
  prepareOutputs,
  requireWritable,
  type ResultStore,
  SOFTWARE_FACTS,
  wholeNumberOption,
  writeShown,
} from '../../../src/plugin-api.js';
import { compareReports, type Comparable } from '../compare/compare-reports.js';
import { comparisonDocument, shownComparison } from '../compare/comparison-result.js';
import type { ComparisonDocument } from '../compare/comparison-schema.js';
import { isBlind, judgeRows, type Occasion } from '../compare/gate.js';
import { isOfStore, readSide } from '../compare/read-sides.js';
import { isSide } from '../compare/side.js';
import { saveKernels } from '../compare/save-kernels.js';
import {
  type ComparedSides,
  compareSides,
  DEFAULT_ROUNDS,
  PROTOCOL_OF_ROUND,
  type SidesOptions,
} from './compare-sides.js';

/** Times of two machines say nothing about a change of software. */
const OF_MACHINE: ReadonlySet<string> = new Set(['processor', 'architecture', 'cores', 'processor_features']);

/** A gate is strict: it takes all around the software for software. */
const OF_SOFTWARE: ReadonlySet<string> = new Set([...SOFTWARE_FACTS, 'kernel', 'container', 'tool_version']);

type Compared = Omit<Occasion, 'where'>;

const limitOption = percentOption(numberFrom(0, 1_000_000));

interface Result {
  readonly name: string;
  readonly reports: readonly Comparable[];
}

interface CompareOptions extends OutputOptions, SidesOptions {
  readonly failAbove?: number;
  readonly anyMachine?: boolean;
  readonly saveKernels?: string;
  readonly baseline?: string;
  readonly store?: string;
}

const HELP = `
With models, A and B are measured here by turns, A B B A, in rounds of a few
seconds. A side is 'default', a version of the runtime, or settings:
  onnxruntime-node@1.27.0   this version; 'npm install --prefix FOLDER' puts
                            it where the message says if it is not there
  threads=2                 settings, with commas between several: threads,
                            optimization_level, execution_mode,
                            inter_op_threads, and keys of the session
  framework=onnxruntime-web, agent=HOST:PORT
The interval of a change is that of the difference within a round, so what
changes from hour to hour on the machine is not in it. Nothing is stored.

Without models, A and B are there already: documents that 'dlbricks run',
'validate' or 'compose' wrote with --export-json, reference logs (.yml) of
--log, or systems of the store: store#DIGITS, by the beginning of the
fingerprint. FILE#DIGITS is one system of a document that has several. Models
are paired by name, batch and dimensions; by threads and settings where a
document has several. Two measurements an hour apart may
differ although nothing was changed: to decide about a small change, name the
models and measure both.

"change" is the time of B over the time of A. All intervals that a command
shows contain all changes at once with 95 % probability. "seen from" is the
smallest change that would have been seen. A change is put down to an aspect
(a version, a number of threads) only where nothing else differs. Bricks are
paired by signature: the second table has those that changed, and what they
cost in all models together.

Examples:
  mlmodelscope compare onnxruntime-node@1.27.0 default -- zoo:resnet18
  mlmodelscope compare threads=1 threads=2 --whole -- zoo:resnet18 my.onnx
  mlmodelscope compare optimization_level=basic default --rounds 20 -- my.onnx
  mlmodelscope compare before.json after.json
  mlmodelscope compare before.yml after.yml --export-svg change.svg
  mlmodelscope compare store#3fa9c2e1 store#77b01d4c
  mlmodelscope compare after.json --baseline main.json --fail-above 5`;

/** @throws PlatformError `usage` where a gate would compare two machines, or nothing */
function requireComparable(documents: readonly ComparisonDocument[], options: CompareOptions): void {
  const rows = documents.flatMap(({ models }) => models);
  if (rows.every(({ reason }) => reason !== null)) {
    const reasons = new Set(rows.map(({ label, reason }) => `${label}: ${reason ?? ''}`));
    throw new PlatformError('usage', ['no model can be compared', ...reasons].join('\n'));
  }
  if (options.anyMachine !== true) for (const document of documents) requireAlike(document, options);
}

/** @throws PlatformError `usage` for two machines, or two changes */
function requireAlike({ aspects, before, after }: ComparisonDocument, { baseline }: CompareOptions): void {
  const option = baseline === undefined ? '--fail-above' : '--baseline';
  const names = aspects.map(({ aspect }) => aspect).filter((aspect) => aspect !== 'host');
  const other = names.filter((aspect) => OF_MACHINE.has(aspect));
  const isSoftware = names.map((aspect) => OF_SOFTWARE.has(aspect));
  if (other.length > 0) {
    const problem = `${before} and ${after} are from different machines (${other.join(', ')})`;
    throw new PlatformError('usage', `${option}: ${problem}; measure both on one machine, or add --any-machine`);
  }
  if (!isSoftware.includes(true) || !isSoftware.includes(false)) return;
  const problem = `${before} and ${after} differ in software and in something else too (${names.join(', ')})`;
  throw new PlatformError(
    'usage',
    `${option}: ${problem}; compare two that differ in one of them, or add --any-machine`,
  );
}

/** @throws PlatformError `usage` where the two have no model in common */
function compareThere(before: Result, after: Result): Compared {
  const comparison = compareReports(before.reports, after.reports);
  if (comparison.models.length === 0) {
    const { unpaired } = comparison;
    const one = joinLabels(unpaired.before) || 'none';
    const other = joinLabels(unpaired.after) || 'none';
    const problem = 'the two have no model of the same name, batch and dimensions in common';
    throw new PlatformError('usage', `${problem}; ${before.name} has: ${one}; ${after.name} has: ${other}`);
  }
  const document = comparisonDocument(comparison, { before: before.name, after: after.name });
  return { document, vanished: comparison.unpaired.before };
}

/** @throws PlatformError `usage` where one occasion would confirm itself */
function requireDifferent(results: readonly Result[]): void {
  const names = new Map<string, string>();
  for (const { name, reports } of results) {
    const content = JSON.stringify(reports);
    const same = names.get(content);
    if (same !== undefined) {
      const problem = `${same} and ${name} are the same result`;
      throw new PlatformError('usage', `--baseline: ${problem}; name results that were measured one after the other`);
    }
    names.set(content, name);
  }
}

function joinLabels(rows: readonly { readonly label: string }[]): string {
  return rows.map(({ label }) => label).join(', ');
}

async function judge(
  compared: readonly Compared[],
  limitPercent: number,
  measured: ComparedSides | undefined,
  host: CommandHost,
): Promise<void> {
  const above = `slower by more than ${limitPercent} %`;
  const occasions = compared.map((one) => {
    return { ...one, where: measured === undefined ? `in ${one.document.after}` : 'the first time' };
  });
  const blind = compared.flatMap(({ document }) => document.models.filter((row) => isBlind(row, limitPercent)));
  if (blind.length > 0) {
    const rows = blind.map(({ label, seen_from_percent: from }) => `${label} (seen from ${from?.toFixed(1)} %)`);
    const problem = `a model that is slower by ${limitPercent} % would not have been seen: ${rows.join(', ')}`;
    host.warn(`warning: ${problem}; measure on a quieter machine${measured ? ', or with more --rounds' : ''}`);
  }
  let judged = judgeRows(occasions, limitPercent);
  if (judged.slower.length > 0 && measured !== undefined) {
    host.warn(`note: ${above}: ${joinLabels(judged.slower)}; measured once more to be sure`);
    const document = await measured.again(judged.slower.map(({ model }) => model));
    if (host.signal.aborted) return;
    judged = judgeRows([...occasions, { document, vanished: [], where: 'the second time' }], limitPercent);
  }
  for (const { label, slower, notSlower } of judged.cleared) {
    host.warn(`note: ${above} ${slower.join(', ')}, but not ${notSlower.join(', ')}: ${label}`);
  }
  for (const { label, slower, undecided } of judged.open) {
    const found = [...slower.map((where) => `${above} ${where}`), ...undecided].join(', ');
    host.warn(`no verdict, so --fail-above decides nothing about it: ${label}: ${found}`);
    host.setExitCode(EXIT_PARTIAL);
  }
  if (judged.slower.length === 0) return;
  host.warn(`${above}: ${joinLabels(judged.slower)}`);
  host.setExitCode(EXIT_REFUSED);
}

/** @throws PlatformError `usage` for an option that only measuring has */
function refuseMeasuringOptions(options: CompareOptions): void {
  const { batch, dimension, input, runs, warmup, rounds, whole, saveKernels } = options;
  const given = Object.entries({ batch, dimension, input, runs, warmup, rounds, whole, 'save-kernels': saveKernels });
  const [name] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw new PlatformError('usage', `--${name} is for measuring two sides; name models after --, as in -- zoo:resnet18`);
}

async function compareResults(
  given: readonly string[],
  { baseline, store }: CompareOptions,
  host: CommandHost,
): Promise<readonly Compared[]> {
  if (baseline === undefined && given.length !== 2) {
    throw new PlatformError('usage', 'name two sides, or one and --baseline FILE');
  }
  let opened: Promise<ResultStore> | undefined;
  const openStore = () => (opened ??= host.openStore(store, { access: 'read' }));
  const names = baseline === undefined ? given : [baseline, ...given];
  const side = names.find(isSide);
  if (side !== undefined) {
    throw new PlatformError('usage', `${side} is to be measured: name models after --, as in -- zoo:resnet18`);
  }
  const model = names.find((name) => ['onnx', 'zoo'].includes(parseModelReference(name)?.kind ?? ''));
  if (model !== undefined) {
    throw new PlatformError(
      'usage',
      `${model} is a model: name two sides before it, as in default threads=2 -- ${model}`,
    );
  }
  const results: Result[] = [];
  for (const name of names) results.push({ name, reports: await readSide(name, openStore) });
  if (baseline !== undefined) requireDifferent(results);
  const [before, ...after] = results;
  return before === undefined ? [] : after.map((result) => compareThere(before, result));
}

export function registerCompare(program: Command, host: CommandHost): void {
  const command = program
    .command('compare')
    .description('Compare two versions, settings, agents or results: models, causes, and the bricks that changed')
    .argument('<a>', "what to measure, as in 'threads=1', or a result: a report, a log, store#DIGITS")
    .argument('[b]', 'what to compare with it; with --baseline, a result of a second occasion')
    .argument('[model...]', 'models to measure on both sides: manifest (.yml), .onnx file or zoo:NAME');
  addAllowVersionOption(
    addProtocolOptions(addInputOptions(addBatchOption(addQuietOption(addTableOptions(command)))), PROTOCOL_OF_ROUND),
  )
    .option('--whole', 'measure whole models too')
    .option(
      '--rounds <n>',
      `rounds in which both sides are measured (default: ${DEFAULT_ROUNDS})`,
      wholeNumberOption(2, 1000),
    )
    .option(
      '--fail-above <percent>',
      'exit with 4 if a model is slower by more than this, and by more than chance explains; two sides are measured once more first',
      limitOption,
    )
    .option(
      '--baseline <file>',
      'compare each result with this one; with --fail-above, a model fails only if it is slower in all of them',
    )
    .option(
      '--any-machine',
      'let --fail-above and --baseline compare different machines, and software together with other changes',
    )
    .option('--export-svg <file>', 'draw the changes with their intervals')
    .option(
      '--save-kernels <folder>',
      'write each kernel that differs as an ONNX file, with the command that measures it',
    );
  addStoreOption(command)
    .addHelpText('after', HELP)
    .action(async (a: string, b: string | undefined, references: readonly string[], options: CompareOptions) => {
      const outputs = await prepareOutputs(options);
      const isMeasured = b !== undefined && references.length > 0 && options.baseline === undefined;
      if (!isMeasured) refuseMeasuringOptions(options);
      if (options.store !== undefined && ![a, b ?? '', ...references, options.baseline ?? ''].some(isOfStore)) {
        throw new PlatformError('usage', '--store is for sides such as store#3fa9c2e1');
      }
      if (isMeasured && !isSide(a) && !isSide(b)) {
        const problem = `neither ${a} nor ${b} is a side to measure (--help lists them)`;
        throw new PlatformError('usage', `${problem}; to compare several results, name the one before with --baseline`);
      }
      if (options.saveKernels !== undefined) await requireWritable(join(options.saveKernels, 'README.md'));
      const measured = isMeasured ? await compareSides([a, b], references, options, host) : undefined;
      const given = [a, ...(b === undefined ? [] : [b]), ...references];
      const compared =
        measured === undefined
          ? await compareResults(given, options, host)
          : [{ document: measured.document, vanished: [] }];
      const documents = compared.map(({ document }) => document);
      if (options.failAbove !== undefined || options.baseline !== undefined) requireComparable(documents, options);
      const [document] = documents;
      if (document === undefined) return;
      await writeShown(shownComparison(document), outputs, host);
      if (options.saveKernels !== undefined && measured !== undefined) {
        const saved = await saveKernels(options.saveKernels, document, measured.sides);
        host.warn(`note: files of kernels that differ in ${options.saveKernels}: ${saved}`);
      }
      const { failAbove } = options;
      if (host.signal.aborted) return;
      if (measured !== undefined && document.models.some(({ reason }) => reason !== null))
        host.setExitCode(EXIT_PARTIAL);
      if (failAbove === undefined) return;
      await judge(compared, failAbove, measured, host);
    });
}
