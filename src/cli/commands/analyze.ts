import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { addTableOptions, type OutputOptions } from '../../command/options.js';
import { prepareOutputs, writeShown } from '../../command/outputs.js';
import type { Analysis } from '../../evaluation/analysis.js';
import { STORE } from './store-option.js';
import type { CommandHost, Plugin } from '../../evaluation/plugin.js';
import { runAnalysis, settingNames } from '../../evaluation/run/run-analysis.js';
import { suggestion } from '../../base/suggestion.js';
import { fittingTable } from '../../base/fitting-table.js';
import type { Column } from '../../base/text-table.js';
import { shownTable } from '../../command/keyed-table.js';
import { provenanceOf } from '../../agent/provenance.js';

interface AnalyzeOptions extends OutputOptions {
  readonly setting?: readonly string[];
  readonly store?: string;
}

function settingsFrom(assignments: readonly string[]): object {
  const settings = new Map<string, unknown>();
  for (const assignment of assignments) {
    const [, key, text] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
    if (key === undefined || text === undefined) {
      throw new PlatformError('usage', `--setting ${assignment}: expected KEY=VALUE`);
    }
    if (settings.has(key)) throw new PlatformError('usage', `--setting ${key} is given twice; leave one out`);
    settings.set(key, valueOf(text));
  }
  return Object.fromEntries(settings);
}

/** The text parsed as JSON; the text itself where it is no JSON. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** @throws PlatformError `usage` that suggests a similar name or lists the names */
function named<T extends { readonly name: string }>(name: string, known: readonly T[], what: string): T {
  const found = known.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const names = known.map((candidate) => candidate.name);
  const meant = suggestion(name, names);
  const advice = meant === undefined ? `there is ${names.join(', ') || 'none'}` : `did you mean ${meant}?`;
  throw new PlatformError('usage', `there is no ${what} ${name}; ${advice}`);
}

interface ListedAnalysis {
  readonly plugin: string;
  readonly analysis: Analysis;
}

const LIST_COLUMNS: readonly Column<ListedAnalysis>[] = [
  { title: 'plugin', align: 'left', cell: ({ plugin }) => plugin },
  { title: 'analysis', align: 'left', cell: ({ analysis }) => analysis.name },
  { title: 'settings', align: 'left', cell: ({ analysis }) => settingNames(analysis).join(', ') },
  { title: 'description', align: 'left', cell: ({ analysis }) => analysis.description },
];

function list(plugins: readonly Plugin[], width: number | undefined): string {
  const listed = plugins.flatMap(({ name, analyses = [] }) => {
    return analyses.map((analysis): ListedAnalysis => ({ plugin: name, analysis }));
  });
  return `${fittingTable(LIST_COLUMNS, listed, { width, dispensable: [] }).text}\n`;
}

const DIFFERENT = 'the store has measurements of different ones';

const OF_STORE = { protocol: DIFFERENT, host: DIFFERENT, stack: DIFFERENT };

async function analyze(analysis: Analysis, options: AnalyzeOptions, host: CommandHost): Promise<void> {
  const outputs = await prepareOutputs(options);
  const settings = settingsFrom(options.setting ?? []);
  const store = await host.openStore(options.store, { access: 'read' });
  const table = await runAnalysis(analysis, settings, { store, signal: host.signal });
  const picture = analysis.draw?.(table);
  if (options.exportSvg !== undefined && picture === undefined) {
    const why = analysis.draw === undefined ? 'has no picture' : 'has nothing to draw here';
    throw new PlatformError('usage', `--export-svg: the analysis ${analysis.name} ${why}; leave the option out`);
  }
  const shown = shownTable(table, {
    ...(picture !== undefined && { picture: () => picture }),
    document: { provenance: provenanceOf({ reasons: OF_STORE }), ...table },
    title: analysis.description,
    verdict: `${counted(table.rows.length, 'row')} from the store.`,
  });
  await writeShown(shown, outputs, host);
}

export function registerAnalyzeCommand(program: Command, host: CommandHost, plugins: readonly Plugin[]): void {
  addTableOptions(program.command('analyze'), 'row of the table')
    .description("Run a plugin's analysis on the measurements in a store, without measuring")
    .argument('[plugin]', 'plugin of the analysis (default: list all analyses)')
    .argument('[name]', 'name of the analysis')
    .argument('[model]', 'for analyses of models: the name of one; the same as --setting model=NAME')
    .option(
      '--setting <key=value>',
      'a setting of the analysis, JSON or text; may be repeated',
      (assignment: string, before: readonly string[] = []) => [...before, assignment],
    )
    .option('--export-svg <file>', 'draw the table, if the analysis has a picture')
    .option(...STORE)
    .addHelpText(
      'after',
      "\nExamples:\n  mlmodelscope analyze latency runs --setting 'percentiles=[50,99]'\n  mlmodelscope analyze xsp summary resnet50\n  mlmodelscope analyze xsp kernel-roofline resnet50 --export-svg roofs.svg",
    )
    .action(
      async (
        pluginName: string | undefined,
        analysisName: string | undefined,
        modelName: string | undefined,
        options: AnalyzeOptions,
      ) => {
        if (pluginName === undefined) {
          host.print(list(plugins, host.columns?.out));
          return;
        }
        const plugin = named(
          pluginName,
          plugins.filter(({ analyses = [] }) => analyses.length > 0),
          'plugin with analyses named',
        );
        const { analyses = [] } = plugin;
        if (analysisName === undefined) host.print(list([plugin], host.columns?.out));
        else {
          const model = modelName === undefined ? [] : [`model=${JSON.stringify(modelName)}`];
          const setting = [...model, ...(options.setting ?? [])];
          await analyze(
            named(analysisName, analyses, `analysis of ${pluginName} named`),
            { ...options, setting },
            host,
          );
        }
      },
    );
}
