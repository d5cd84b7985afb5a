import { Command, InvalidArgumentError, Option } from 'commander';
import type { Plugin } from '../evaluation/plugin.js';
import { registerAgentCommand } from './commands/agent.js';
import { registerAnalyzeCommand } from './commands/analyze.js';
import { registerCompletionCommand } from './commands/completion.js';
import { registerEvaluateCommand } from './commands/evaluate.js';
import { registerEvaluationsCommand } from './commands/evaluations.js';
import { registerModelsCommand } from './commands/models.js';
import { registerPluginCommand } from './commands/plugin.js';
import { registerPredictCommand } from './commands/predict.js';
import { registerQueueCommand } from './commands/queue.js';
import { registerRegistryCommand } from './commands/registry.js';
import { registerServeCommand } from './commands/serve.js';
import { registerStoreCommand } from './commands/store.js';
import { registerTraceCommand } from './commands/trace.js';
import { registerVersionCommand } from './commands/version.js';
import { registerZooCommand } from './commands/zoo.js';
import type { OwnedHost } from './host.js';
import { PLATFORM_VERSION } from './platform-version.js';
import { addSecurityOptions, loadSecurity } from './security.js';
import { TRACE_LEVELS, type TraceLevel } from '../tracing/trace-level.js';
import { isTraceUrlTemplate, TRACE_URL_TEMPLATE } from '../tracing/trace-url.js';
import type { Terminal } from './terminal.js';

/** Options of every command that are needed before the command is known. */
export interface GlobalOptions {
  readonly traceLevel?: TraceLevel;
  readonly traceUrlTemplate?: string;
}

const EXAMPLES = `
Examples:
  mlmodelscope dlbricks run manifests/evaluations/quickstart.yml
  mlmodelscope dlbricks validate zoo:resnet18 my-model.onnx --threads 2
  mlmodelscope registry models`;

/** After the help of every command. */
const EXIT_CODES_HELP = `
Exit codes: 0 done; 1 failed; 2 something that you gave is wrong (an option, a
manifest, a model, a name that is not there); 3 partial (an estimate does not
cover its whole model, an input has no prediction, or results wait for "store
sync"); 130 interrupted.`;

function traceUrlTemplateOption(text: string): string {
  if (isTraceUrlTemplate(text)) return text;
  throw new InvalidArgumentError(`expected ${TRACE_URL_TEMPLATE}`);
}

/** The whole command line. */
export function createProgram(host: OwnedHost, terminal: Terminal, plugins: readonly Plugin[]): Command {
  const program = new Command('mlmodelscope')
    .description('Benchmarks deep-learning models, and estimates the latency of models without running them.')
    .version(PLATFORM_VERSION)
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', EXIT_CODES_HELP)
    .showHelpAfterError('(--help lists commands and options)')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: (text) => terminal.err(text.trimEnd()) });
  const traceLevel = new Option('--trace-level <level>', 'how deep traces go, where OTEL_* variables turn them on');
  program.addOption(traceLevel.choices(TRACE_LEVELS));
  program.option(
    '--trace-url-template <url>',
    "where the tracing server gives a trace as Jaeger's JSON, with {trace_id} for its id",
    traceUrlTemplateOption,
  );
  program.option(
    '--plugin <path>',
    'also load the plugin in this file or folder; may be repeated',
    (path: string, before: readonly string[] = []) => [...before, path],
  );
  addSecurityOptions(program);
  program.hook('preAction', async () =>
    host.secure(await loadSecurity(program.opts(), process.env, (line) => host.warn(line))),
  );
  for (const plugin of plugins) plugin.registerCommand?.(program, host);
  registerServeCommand(program, host, plugins);
  registerAgentCommand(program, host);
  registerPluginCommand(program, host, plugins);
  registerEvaluateCommand(program, host, plugins);
  registerEvaluationsCommand(program, host, plugins);
  registerAnalyzeCommand(program, host, plugins);
  registerPredictCommand(program, host);
  registerRegistryCommand(program, host);
  registerModelsCommand(program, host);
  registerZooCommand(program, host);
  registerStoreCommand(program, host);
  registerQueueCommand(program, host);
  registerTraceCommand(program, host);
  registerCompletionCommand(program, host);
  registerVersionCommand(program, host, plugins);
  inheritSettings(program);
  return program;
}

/** Commander copies these settings only to subcommands that are made by `.command()` after they were set. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}
