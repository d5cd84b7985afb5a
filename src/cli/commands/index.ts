import type { Command } from 'commander';
import type { Plugin } from '../../evaluation/plugin.js';
import type { OwnedHost } from '../host.js';

export type LoadPlugins = () => Promise<readonly Plugin[]>;

/** @param loadPlugins for a command that needs plugins only with some arguments */
type Register = (program: Command, host: OwnedHost, plugins: readonly Plugin[], loadPlugins: LoadPlugins) => void;

/** Its code is loaded only when it is called: loading takes most of a short command's time. */
export interface BuiltInCommand {
  readonly name: string;
  readonly needs?: 'plugins' | 'commands';
  readonly load: () => Promise<Register>;
}

function command(name: string, load: BuiltInCommand['load'], needs?: BuiltInCommand['needs']): BuiltInCommand {
  return { name, load, ...(needs && { needs }) };
}

/** In the order in which help lists them. */
export const BUILT_IN_COMMANDS: readonly BuiltInCommand[] = [
  command('serve', async () => (await import('./serve.js')).registerServeCommand, 'plugins'),
  command('agent', async () => (await import('./agent.js')).registerAgentCommand),
  command('plugin', async () => (await import('./plugin.js')).registerPluginCommand, 'plugins'),
  command('evaluate', async () => (await import('./evaluate.js')).registerEvaluateCommand, 'plugins'),
  command('evaluations', async () => (await import('./evaluations.js')).registerEvaluationsCommand, 'plugins'),
  command('analyze', async () => (await import('./analyze.js')).registerAnalyzeCommand, 'plugins'),
  command('report', async () => (await import('./report.js')).registerReportCommand, 'plugins'),
  command('reproduce', async () => (await import('./reproduce.js')).registerReproduceCommand, 'plugins'),
  command('predict', async () => (await import('./predict.js')).registerPredictCommand),
  command('registry', async () => (await import('./registry.js')).registerRegistryCommand),
  command('models', async () => (await import('./models.js')).registerModelsCommand),
  command('zoo', async () => (await import('./zoo.js')).registerZooCommand),
  command('store', async () => (await import('./store.js')).registerStoreCommand),
  command('queue', async () => (await import('./queue.js')).registerQueueCommand),
  command('trace', async () => (await import('./trace.js')).registerTraceCommand),
  command('machine', async () => (await import('./machine.js')).registerMachineCommand),
  command('doctor', async () => (await import('./doctor.js')).registerDoctorCommand),
  command('completion', async () => (await import('./completion.js')).registerCompletionCommand, 'commands'),
  command('version', async () => (await import('./version.js')).registerVersionCommand, 'plugins'),
];
