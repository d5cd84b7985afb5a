import type { Command } from 'commander';
import { numberOption } from '../../base/option-value.js';
import { threadsSchema } from '../../base/default-threads.js';
import { PlatformError } from '../../base/errors.js';
import { COMMAND_DEFAULTS } from '../../command/options.js';
import { fittingTable } from '../../base/fitting-table.js';
import { oneLine } from '../../base/one-line.js';
import { type Column, left } from '../../base/text-table.js';
import { wrap } from '../../base/wrap.js';
import { EXIT_PARTIAL, EXIT_REFUSED } from '../../base/exit-codes.js';
import { type Finding } from '../../command/doctor/finding.js';
import { examineMachine } from '../../command/doctor/machine.js';
import { logFindings } from '../../command/doctor/log.js';
import { manifestFindings } from '../../command/doctor/manifest.js';
import { readResult, resultFindings } from '../../command/doctor/result.js';
import { isManifestPath, parseModelReference, ZOO_PREFIX } from '../../manifest/reference.js';
import { isLog, readLog } from '../../reference-log/read-log.js';
import type { CommandHost, Plugin } from '../../evaluation/plugin.js';
import type { LoadPlugins } from './index.js';
import { documentText } from '../document-text.js';
import { findEvaluation } from '../show-outcome.js';

const COLUMNS: readonly Column<Finding>[] = [
  left('level', ({ level }) => level),
  left('finding', ({ id }) => oneLine(id)),
  left('found', ({ found }) => oneLine(found)),
];

function formatFindings(findings: readonly Finding[], width: number | undefined): string {
  if (findings.length === 0) return 'nothing found\n';
  const table = fittingTable(COLUMNS, findings, { width, dispensable: [] }).text;
  const advice = findings.map(({ id, why, remedy }) => `${oneLine(id)}: ${oneLine(why)}; ${oneLine(remedy)}`);
  return `${[table, ...[...new Set(advice)].map((line) => wrap(line, width ?? Infinity, '  '))].join('\n')}\n`;
}

interface DoctorOptions {
  readonly threads?: number;
  readonly json?: boolean;
}

async function findingsAbout(path: string, loadPlugins: LoadPlugins): Promise<Finding[]> {
  if (parseModelReference(path)?.kind === 'onnx' || path.startsWith(ZOO_PREFIX)) {
    const advice = "'dlbricks layers' shows what it holds, and doctor looks at a result of it, or at its manifest";
    throw new PlatformError('usage', `${path}: doctor has no checks for a model without a manifest; ${advice}`);
  }
  if (!isManifestPath(path)) return resultFindings(await readResult(path));
  if (await isLog(path)) return logFindings(await readLog(path));
  const plugins = await loadPlugins();
  return manifestFindings(path, (name) => findEvaluation(name, plugins));
}

export function registerDoctorCommand(
  program: Command,
  host: CommandHost,
  _plugins: readonly Plugin[],
  loadPlugins: LoadPlugins,
): void {
  program
    .command('doctor')
    .description(
      'Look for what makes latencies doubtful: on this machine before a run, in a result, a log or a manifest',
    )
    .argument(
      '[result]',
      'document that --export-json wrote, log of --log, or manifest (default: look at this machine)',
    )
    .option(
      '--threads <n>',
      `threads of the run to come (default: ${COMMAND_DEFAULTS.threads})`,
      numberOption(threadsSchema),
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Each finding has a level: "refuse" for numbers that mean something else than
they seem to, "warn" for numbers that may be off, "info" for what to know.
The exit code is 0 without a warning, 3 with warnings, 4 with a refusal.

Examples:
  mlmodelscope doctor --threads 4
  mlmodelscope doctor report.json --json
  mlmodelscope doctor evaluation.yml`,
    )
    .action(async (path: string | undefined, { threads, json }: DoctorOptions) => {
      if (path !== undefined && threads !== undefined) {
        throw new PlatformError('usage', '--threads is about this machine; leave it out, or the file');
      }
      const findings = await (path === undefined
        ? examineMachine(threads ?? COMMAND_DEFAULTS.threads)
        : findingsAbout(path, loadPlugins));
      const subject = path ?? null;
      host.print(
        json === true ? documentText('findings', { subject, findings }) : formatFindings(findings, host.columns?.out),
      );
      const levels = findings.map(({ level }) => level);
      if (levels.includes('refuse')) host.setExitCode(EXIT_REFUSED);
      else if (levels.includes('warn')) host.setExitCode(EXIT_PARTIAL);
    });
}
