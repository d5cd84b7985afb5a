import { CommanderError, type Command } from 'commander';
import { messageOf } from '../base/errors.js';
import { EXIT_INTERRUPTED } from '../base/exit-codes.js';
import type { Plugin } from '../evaluation/plugin.js';
import { startTracing } from '../tracing/start-tracing.js';
import { readTraceUrlTemplate, TRACE_URL_VARIABLE } from '../tracing/trace-url.js';
import { activeTracing } from '../tracing/tracing.js';
import { applyConfiguration, pluginsFolder } from './configuration.js';
import { describeFailure } from './failure.js';
import { createHost, type OwnedHost } from './host.js';
import { addCommands, createProgram, type GlobalOptions } from './program.js';
import type { Terminal } from './terminal.js';
import { DEFAULT_TRACE_LEVEL, type TraceLevel } from '../tracing/trace-level.js';

/** These commands add spans to the traces of other processes, and begin no trace of their own. */
const SERVERS = new Set(['agent', 'serve', 'plugin']);

function calledCommands(program: Command, argv: readonly string[]): readonly string[] {
  const names: string[] = [];
  let command = program;
  for (const word of argv) {
    const called = command.commands.find((child) => child.name() === word);
    if (called !== undefined) {
      names.push(word);
      command = called;
    } else if (names.length > 0) break;
  }
  return names;
}

/** Name of this process in a trace, unless OTEL_SERVICE_NAME is set. */
function serviceName(argv: readonly string[]): string {
  const server = argv.find((word) => SERVERS.has(word));
  return server === undefined ? 'mlmodelscope' : `mlmodelscope-${server}`;
}

async function inCommandSpan(
  names: readonly string[],
  level: TraceLevel = DEFAULT_TRACE_LEVEL,
  run: () => Promise<unknown>,
): Promise<void> {
  const tracing = activeTracing();
  if (tracing === undefined || names[0] === undefined || SERVERS.has(names[0])) {
    await run();
    return;
  }
  const name = ['mlmodelscope', ...names].join(' ');
  await tracing.atLevel(level, () => tracing.inSpan(name, { level: 'APPLICATION_TRACE' }, run));
}

/** Exit code of a command line that Commander does not understand; help and version are no errors. */
const EXIT_USAGE = 2;

function useTraceUrlTemplate(template: string, onWarning: (message: string) => void): void {
  process.env[TRACE_URL_VARIABLE] = template;
  if (activeTracing()?.isSending === true) return;
  onWarning('--trace-url-template has no effect, because traces are sent nowhere; set OTEL_EXPORTER_OTLP_ENDPOINT');
}

async function pluginsFor(argv: readonly string[], onWarning: (message: string) => void): Promise<readonly Plugin[]> {
  const { loadPlugins, pluginPaths } = await import('./load-plugins.js');
  return await loadPlugins({ paths: pluginPaths(argv), folder: pluginsFolder(), onWarning });
}

const EXPORT = /^--(export-[a-z]+|trace-out|log|annotate|samples)(=|$)/;

/** Of a command that ended without its result. Messages of calls that were cancelled say nothing more. */
function interruption(message: string, argv: readonly string[]): string {
  const said = message.startsWith('interrupted') ? message : 'interrupted';
  return argv.some((word) => EXPORT.test(word)) ? `${said}; no export was written` : said;
}

/** @param configured rejects for a wrong configuration, which ends a command before it begins, but not its help */
async function runCommand(
  argv: readonly string[],
  terminal: Terminal,
  host: OwnedHost,
  configured: Promise<void>,
): Promise<number> {
  try {
    const onWarning = (message: string): void => host.warn(`warning: ${message}`);
    const program = createProgram(host, terminal);
    program.hook('preAction', async () => {
      await configured;
      // Wrong, it would lose a result at the end.
      readTraceUrlTemplate(process.env);
    });
    const [called] = program.parseOptions([...argv]).operands;
    await addCommands(program, called, host, () => pluginsFor(argv, onWarning));
    const { traceLevel, traceUrlTemplate } = program.opts<GlobalOptions>();
    if (traceUrlTemplate !== undefined) useTraceUrlTemplate(traceUrlTemplate, onWarning);
    const parse = (): Promise<unknown> => program.parseAsync(argv, { from: 'user' });
    await inCommandSpan(calledCommands(program, argv), traceLevel, parse);
    return host.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    const { message, exitCode } = describeFailure(error);
    terminal.err(host.signal.aborted && exitCode === EXIT_INTERRUPTED ? interruption(message, argv) : message);
    return exitCode;
  }
}

/** @param signal ends the command in order, with all results kept @returns the exit code */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  // The work goes on; a lost trace does not change its result.
  const onExportFailure = (problem: string): void => terminal.err(`warning: ${problem}`);
  const configured = applyConfiguration(process.env);
  await configured.catch(() => {});
  try {
    await startTracing({ serviceName: serviceName(argv), environment: process.env, onExportFailure });
  } catch (error) {
    const { message, exitCode } = describeFailure(error);
    terminal.err(message);
    return exitCode;
  }
  const host = createHost(terminal, signal);
  const exitCode = await runCommand(argv, terminal, host, configured);
  await host.close();
  await activeTracing()
    ?.close()
    .catch((error: unknown) => onExportFailure(messageOf(error)));
  return exitCode;
}
