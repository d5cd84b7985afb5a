import type { Command } from 'commander';
import type { Plugin } from '../../evaluation/plugin.js';
import type { OwnedHost } from '../host.js';

type Register = (program: Command, host: OwnedHost, plugins: readonly Plugin[]) => void;

/**
 * A command of the platform. Its code is loaded only when it is called: loading takes most of a short command's time.
 */
export interface BuiltInCommand {
  readonly name: string;
  readonly needs?: 'plugins' | 'commands';
  readonly load: () => Promise<Register>;
}

/** In the order in which help lists them. */
export const BUILT_IN_COMMANDS: readonly BuiltInCommand[] = [
  {
    name: 'serve',
    needs: 'plugins',
    load: async () => (await import('./serve.js')).registerServeCommand,
  },
  { name: 'agent', load: async () => (await import('./agent.js')).registerAgentCommand },
  {
    name: 'plugin',
    needs: 'plugins',
    load: async () => (await import('./plugin.js')).registerPluginCommand,
  },
  {
    name: 'evaluate',
    needs: 'plugins',
    load: async () => (await import('./evaluate.js')).registerEvaluateCommand,
  },
  {
    name: 'evaluations',
    needs: 'plugins',
    load: async () => (await import('./evaluations.js')).registerEvaluationsCommand,
  },
  {
    name: 'analyze',
    needs: 'plugins',
    load: async () => (await import('./analyze.js')).registerAnalyzeCommand,
  },
  {
    name: 'report',
    needs: 'plugins',
    load: async () => (await import('./report.js')).registerReportCommand,
  },
  {
    name: 'reproduce',
    needs: 'plugins',
    load: async () => (await import('./reproduce.js')).registerReproduceCommand,
  },
  { name: 'predict', load: async () => (await import('./predict.js')).registerPredictCommand },
  { name: 'registry', load: async () => (await import('./registry.js')).registerRegistryCommand },
  { name: 'models', load: async () => (await import('./models.js')).registerModelsCommand },
  { name: 'zoo', load: async () => (await import('./zoo.js')).registerZooCommand },
  { name: 'store', load: async () => (await import('./store.js')).registerStoreCommand },
  { name: 'queue', load: async () => (await import('./queue.js')).registerQueueCommand },
  { name: 'trace', load: async () => (await import('./trace.js')).registerTraceCommand },
  { name: 'machine', load: async () => (await import('./machine.js')).registerMachineCommand },
  { name: 'doctor', load: async () => (await import('./doctor.js')).registerDoctorCommand },
  {
    name: 'completion',
    needs: 'commands',
    load: async () => (await import('./completion.js')).registerCompletionCommand,
  },
  {
    name: 'version',
    needs: 'plugins',
    load: async () => (await import('./version.js')).registerVersionCommand,
  },
];
