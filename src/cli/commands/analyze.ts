import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { addTableOptions, type OutputOptions } from '../../command/options.js';
import { prepareOutputs, writeShown } from '../../command/outputs.js';
import { tableText } from '../../command/table-text.js';
import type { Analysis, AnalysisTable } from '../../evaluation/analysis.js';
import { STORE } from './store-option.js';
import type { Plugin } from '../../evaluation/plugin.js';
import { type Analysts, namedAnalysis, pluginWithAnalyses } from '../../evaluation/run/named-analysis.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import { parseAddress } from '../address.js';
import type { OwnedHost } from '../host.js';
import { runAnalysis, settingNames } from '../../evaluation/run/run-analysis.js';
import { type Column, left } from '../../base/text-table.js';
import { shownTable } from '../../command/keyed-table.js';
import { buildProvenance } from '../../agent/provenance.js';

interface AnalyzeOptions extends OutputOptions {
  readonly setting?: readonly string[];
  readonly store?: string;
  readonly server?: HostPort;
}

function settingsFrom(assignments: readonly string[]): object {
  const settings = new Map<string, unknown>();
  for (const assignment of assignments) {
    const [, key, text] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
    if (key === undefined || text === undefined) {
      throw new PlatformError('usage', `--setting ${assignment}: expected KEY=VALUE`);
    }
    if (settings.has(key)) throw new PlatformError('usage', `--setting ${key} is given twice; leave one out`);
    settings.set(key, parseValue(text));
  }
  return Object.fromEntries(settings);
}

/** The text parsed as JSON; the text itself where it is no JSON. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

interface ListedAnalysis {
  readonly plugin: string;
  readonly analysis: Analysis;
}

const LIST_COLUMNS: readonly Column<ListedAnalysis>[] = [
  left('plugin', ({ plugin }) => plugin),
  left('analysis', ({ analysis }) => analysis.name),
  left('settings', ({ analysis }) => settingNames(analysis).join(', ')),
  left('description', ({ analysis }) => analysis.description),
];

function list(plugins: Analysts, host: OwnedHost): void {
  const listed = plugins.flatMap(({ name, analyses = [] }) => {
    return analyses.map((analysis): ListedAnalysis => ({ plugin: name, analysis }));
  });
  host.print(tableText(LIST_COLUMNS, listed, ['settings'], host));
}

const DIFFERENT = 'the store has measurements of different ones';

const OF_STORE = { protocol: DIFFERENT, host: DIFFERENT, stack: DIFFERENT };

interface Asked {
  readonly plugin: string;
  readonly name: string;
  /** undefined where only the server knows it. */
  readonly analysis: Analysis | undefined;
}

async function analyze({ plugin, name, analysis }: Asked, options: AnalyzeOptions, host: OwnedHost): Promise<void> {
  const outputs = await prepareOutputs(options);
  const settings = settingsFrom(options.setting ?? []);
  const table = await computeTable({ plugin, name, analysis }, settings, options, host);
  const picture = analysis?.draw?.(table);
  if (options.exportSvg !== undefined && picture === undefined) {
    const why = analysis?.draw === undefined ? 'has no picture' : 'has nothing to draw here';
    throw new PlatformError('usage', `--export-svg: the analysis ${name} ${why}; leave the option out`);
  }
  const where = options.server === undefined ? 'the store' : `the store of ${formatHostPort(options.server)}`;
  const shown = shownTable(table, {
    ...(picture !== undefined && { picture: () => picture }),
    document: { provenance: buildProvenance({ reasons: OF_STORE }), ...table },
    title: analysis?.description ?? `${plugin} ${name}`,
    verdict: `${counted(table.rows.length, 'row')} from ${where}.`,
  });
  await writeShown(shown, outputs, host);
}

async function computeTable(
  { plugin, name, analysis }: Asked,
  settings: object,
  { server, store: uri }: AnalyzeOptions,
  host: OwnedHost,
): Promise<AnalysisTable> {
  const { signal } = host;
  if (server !== undefined) {
    // Loaded here, because only this option needs a client.
    const { runRemoteAnalysis } = await import('../../evaluation/client/remote-analysis.js');
    const { client: security } = host.security;
    return runRemoteAnalysis(formatHostPort(server), { plugin, analysis: name, settings }, { security, signal });
  }
  if (analysis === undefined) throw new PlatformError('internal', `there is no analysis ${name}`);
  const store = await host.openStore(uri, { access: 'read' });
  return runAnalysis(analysis, settings, { store, signal });
}

export function registerAnalyzeCommand(program: Command, host: OwnedHost, plugins: readonly Plugin[]): void {
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
    .option('--server <host:port>', 'have this server analyze its own store', parseAddress)
    .addHelpText(
      'after',
      "\nExamples:\n  mlmodelscope analyze latency runs --setting 'percentiles=[50,99]'\n  mlmodelscope analyze xsp summary resnet50\n  mlmodelscope analyze xsp kernel-roofline resnet50 --export-svg roofs.svg\n  mlmodelscope analyze xsp models --server 127.0.0.1:7080",
    )
    .action(
      async (
        pluginName: string | undefined,
        analysisName: string | undefined,
        modelName: string | undefined,
        options: AnalyzeOptions,
      ) => {
        if (pluginName === undefined) {
          list(plugins, host);
          return;
        }
        const { server } = options;
        if (server !== undefined && options.store !== undefined) {
          throw new PlatformError('usage', '--server analyzes the store of the server; leave --store out');
        }
        if (analysisName === undefined) {
          list([pluginWithAnalyses(pluginName, plugins)], host);
          return;
        }
        const model = modelName === undefined ? [] : [`model=${JSON.stringify(modelName)}`];
        const setting = [...model, ...(options.setting ?? [])];
        // A server may have plugins that are not here.
        const here = plugins
          .find(({ name }) => name === pluginName)
          ?.analyses?.find(({ name }) => name === analysisName);
        const analysis =
          server === undefined ? namedAnalysis(analysisName, pluginWithAnalyses(pluginName, plugins)) : here;
        await analyze({ plugin: pluginName, name: analysisName, analysis }, { ...options, setting }, host);
      },
    );
}
