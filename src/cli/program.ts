import { Command, InvalidArgumentError, Option } from 'commander';
import { BUILT_IN_COMMANDS, type LoadPlugins } from './commands/index.js';
import type { OwnedHost } from './host.js';
import { refuseSecondOutputs, requireInputsKept } from './keep-inputs.js';
import { PLATFORM_VERSION } from '../base/platform-version.js';
import { addSecurityOptions, loadSecurity, type SecurityFlags } from './security.js';
import { levelProblem, type TraceLevel } from '../tracing/trace-level.js';
import { isTraceUrlTemplate, TRACE_URL_TEMPLATE } from '../tracing/trace-url.js';
import type { Terminal } from './terminal.js';

export interface GlobalOptions extends SecurityFlags {
  readonly plugin?: readonly string[];
  readonly traceLevel?: TraceLevel;
  readonly traceUrlTemplate?: string;
}

const EXAMPLES = `
Examples:
  mlmodelscope dlbricks run manifests/evaluations/quickstart.yml
  mlmodelscope dlbricks validate zoo:resnet18 my-model.onnx --threads 2
  mlmodelscope registry models`;

/** Shown after the help of every command. */
const EXIT_CODES_HELP = `
Exit codes: 0 done; 1 failed, without a result; 2 something that you gave is
wrong (an option, a manifest, a model, a name that is not there); 3 partial (an
estimate does not cover its whole model, a model, brick or input failed, results
wait for "store sync", "doctor" warns, or a log is not reproduced); 4 refused
(slower than "compare --fail-above" allows, a result that "doctor" refuses, or a
log that "reproduce" cannot run or compare); 130 interrupted.`;

function traceUrlTemplateOption(text: string): string {
  if (isTraceUrlTemplate(text)) return text;
  throw new InvalidArgumentError(`expected ${TRACE_URL_TEMPLATE}`);
}

function madeLevelOption(text: string): string {
  const problem = levelProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return text;
}

export function createProgram(host: OwnedHost, terminal: Terminal): Command {
  const program = new Command('mlmodelscope')
    .description('Benchmarks deep-learning models, and estimates the latency of models without running them.')
    .version(PLATFORM_VERSION)
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', EXIT_CODES_HELP)
    // Beside the longest command, descriptions still wrap.
    .configureHelp({ minWidthToWrap: 30 })
    .showHelpAfterError('(--help lists commands and options; the options of a command follow its name)')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: (text) => terminal.err(text.trimEnd()) });
  const traceLevel = new Option(
    '--trace-level <level>',
    'how deep traces go, if OTEL_* variables turn them on: NO_TRACE, APPLICATION_TRACE, MODEL_TRACE, FRAMEWORK_TRACE, SYSTEM_LIBRARY_TRACE',
  );
  program.addOption(traceLevel.argParser(madeLevelOption));
  program.option(
    '--trace-url-template <url>',
    "URL at which the tracing server returns a trace as Jaeger's JSON; {trace_id} stands for the trace's id",
    traceUrlTemplateOption,
  );
  program.option(
    '--plugin <path>',
    'also load the plugin in this file or folder; may be repeated',
    (path: string, before: readonly string[] = []) => [...before, path],
  );
  addSecurityOptions(program);
  program.hook('preAction', (_, command) => requireInputsKept(command));
  program.hook('preAction', async () =>
    host.secure(await loadSecurity(program.opts(), process.env, (line) => host.warn(line))),
  );
  return program;
}

/** Adds the called command, or all where `called` is undefined or unknown. Plugins are loaded only where needed. */
export async function addCommands(
  program: Command,
  called: string | undefined,
  host: OwnedHost,
  loadPlugins: LoadPlugins,
): Promise<void> {
  const builtIn = BUILT_IN_COMMANDS.find(({ name }) => name === called);
  const plugins = builtIn !== undefined && builtIn.needs === undefined ? [] : await loadPlugins();
  const isAlone = builtIn !== undefined && builtIn.needs !== 'commands';
  if (!isAlone) for (const plugin of plugins) plugin.registerCommand?.(program, host);
  const isOfPlugin = program.commands.some((command) => command.name() === called);
  const wanted = isAlone ? [builtIn] : isOfPlugin ? [] : BUILT_IN_COMMANDS;
  for (const { load } of wanted) (await load())(program, host, plugins, loadPlugins);
  finishCommands(program);
}

/** Commander copies the settings of a command only to the subcommands that `.command()` makes after they are set. */
function finishCommands(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    refuseSecondOutputs(child);
    finishCommands(child);
  }
}
