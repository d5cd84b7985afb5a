import Table from 'cli-table3';
import type { Command } from 'commander';
import type { CommandHost } from '../../evaluation/plugin.js';
import { builtInModels } from '../../registry/built-in-models.js';

const SETTINGS = { style: { head: [], border: [], compact: true } };

/** `mlmodelscope registry models|agents`: what there is to work with. */
export function registerRegistryCommand(program: Command, host: CommandHost): void {
  const registry = program
    .command('registry')
    .description('Show what there is to work with')
    .addHelpText('after', '\nExamples:\n  mlmodelscope registry models\n  mlmodelscope registry agents');
  registry
    .command('models')
    .description('List the models that come with the platform; any ONNX file or model manifest works as well')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope registry models --json')
    .action(async ({ json }: { json?: boolean }) => {
      const models = await builtInModels();
      if (json === true) {
        host.print(`${JSON.stringify(models, null, 2)}\n`);
        return;
      }
      const table = new Table({
        ...SETTINGS,
        head: ['reference', 'name', 'version', 'framework', 'parameters', 'what it is'],
      });
      for (const { reference, name, version, framework, parameters, title } of models) {
        table.push([reference, name, version, framework, `${(parameters / 1e6).toFixed(1)} M`, title]);
      }
      host.print(`${table.toString()}\n`);
    });
  registry
    .command('agents')
    .description('Describe the agent at --server, or the one that would be started on this machine')
    .option('--server <host:port>', 'address of an agent')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope registry agents --server 127.0.0.1:7070')
    .action(async ({ server, json }: { server?: string; json?: boolean }) => {
      const agent = await host.connect(server);
      const system = await agent.system({ threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' });
      if (json === true) {
        host.print(`${JSON.stringify([{ address: server ?? null, ...system }], null, 2)}\n`);
        return;
      }
      const table = new Table({
        ...SETTINGS,
        head: ['address', 'framework', 'architecture', 'processor', 'cores', 'memory'],
      });
      const memory = `${(system.memoryBytes / 2 ** 30).toFixed(1)} GiB`;
      const framework = `${system.framework} ${system.frameworkVersion}`;
      table.push([server ?? '(this machine)', framework, system.architecture, system.processor, system.cores, memory]);
      host.print(`${table.toString()}\n`);
    });
}
