import { type Command, Option } from 'commander';
import { PlatformError } from '../../base/errors.js';
import { drawTable } from '../../base/text-table.js';
import type { System } from '../../measurement/system.js';
import { builtInModels } from '../../registry/built-in-models.js';
import { listAgents, type ListedAgent } from '../../directory/list-agents.js';
import { SERVER_VARIABLE } from '../address.js';
import type { OwnedHost } from '../host.js';
import { documentText } from '../json-documents.js';

/** An agent that is registered, or one that is not. */
type ShownAgent =
  | (Omit<ListedAgent, 'models'> & { readonly models: string[] })
  | (System & {
      /** null for one that is started for a command on this machine. */
      readonly address: string | null;
    });

/** The agents of the platform's server at an address, or the agent that is there itself. */
async function agentsAt(server: string | undefined, host: OwnedHost): Promise<readonly ShownAgent[]> {
  if (server !== undefined) {
    try {
      const agents = await listAgents(server, { security: host.security.client });
      return agents.map(({ models, ...agent }) => ({ ...agent, models: models.map(({ name }) => name) }));
    } catch (error) {
      // An agent has no registry.
      if (!(error instanceof PlatformError) || error.code !== 'unsupported') throw error;
    }
  }
  const agent = await host.connect(server);
  const system = await agent.system({ threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' });
  return [{ address: server ?? null, ...system }];
}

/** `mlmodelscope registry models|agents`: lists models and agents. */
export function registerRegistryCommand(program: Command, host: OwnedHost): void {
  const registry = program
    .command('registry')
    .description('List models and agents')
    .addHelpText('after', '\nExamples:\n  mlmodelscope registry models\n  mlmodelscope registry agents');
  registry
    .command('models')
    .description('List the models that come with the platform; any ONNX file or model manifest works as well')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope registry models --json')
    .action(async ({ json }: { json?: boolean }) => {
      const models = await builtInModels();
      if (json === true) {
        host.print(documentText('models', [...models]));
        return;
      }
      const titles = ['reference', 'name', 'version', 'framework', 'parameters', 'description'];
      const rows = models.map(({ reference, name, version, framework, parameters, title }) => {
        return [reference, name, version, framework, `${(parameters / 1e6).toFixed(1)} M`, title];
      });
      host.print(`${drawTable({ titles, rows })}\n`);
    });
  registry
    .command('agents')
    .description('List the agents that are registered at --server, or describe the agent there or on this machine')
    .addOption(
      new Option('--server <host:port>', "address of the platform's server, or of an agent").env(SERVER_VARIABLE),
    )
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope registry agents --server 127.0.0.1:7080')
    .action(async ({ server, json }: { server?: string; json?: boolean }) => {
      const agents = await agentsAt(server, host);
      if (json === true) {
        host.print(documentText('agents', [...agents]));
        return;
      }
      const titles = ['address', 'framework', 'architecture', 'processor', 'cores', 'memory'];
      const rows = agents.map(
        ({ address, framework, frameworkVersion, architecture, processor, cores, memoryBytes }) => {
          const memory = `${(memoryBytes / 2 ** 30).toFixed(1)} GiB`;
          const place = address ?? '(this machine)';
          return [place, `${framework} ${frameworkVersion}`, architecture, processor, String(cores), memory];
        },
      );
      host.print(`${drawTable({ titles, rows })}\n`);
    });
}
