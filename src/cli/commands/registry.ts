import type { Command } from 'commander';
import { fittingTable } from '../../base/fitting-table.js';
import type { Column } from '../../base/text-table.js';
import { addAgentPlaceOptions, type AgentOptions } from '../../command/options.js';
import { ANY_RUN, identifySystem, type System } from '../../measurement/system.js';
import { type BuiltInModel, builtInModels } from '../../registry/built-in-models.js';
import { listAgents, type ListedAgent } from '../../directory/list-agents.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import { serverOption } from '../address.js';
import type { OwnedHost } from '../host.js';
import { documentText } from '../json-documents.js';
import { labelsOf, type RegisteredModel, registeredModels, typeText } from '../registered-models.js';

/** A registered agent, or an agent that is not registered. */
type ShownAgent =
  | (Omit<ListedAgent, 'models'> & { readonly models: string[] })
  | (System & {
      /** null for an agent that is started for this command. */
      readonly address: string | null;
    });

interface AgentsFlags extends AgentOptions {
  readonly server?: HostPort;
  readonly json?: true;
}

/** The agents of the platform's server, else the agent that `--agent` names or that is started here. */
async function agentsAt(
  { server, agent: address, framework }: AgentsFlags,
  host: OwnedHost,
): Promise<readonly ShownAgent[]> {
  if (server !== undefined && address === undefined) {
    const agents = await listAgents(formatHostPort(server), { security: host.security.client });
    return agents.map(({ models, ...agent }) => ({ ...agent, models: models.map(({ name }) => name) }));
  }
  const agent = await host.connect(address, framework);
  return [{ address: address ?? null, ...identifySystem(agent.description, ANY_RUN) }];
}

const MODEL_COLUMNS: readonly Column<BuiltInModel>[] = [
  { title: 'reference', align: 'left', cell: ({ reference }) => reference },
  { title: 'name', align: 'left', cell: ({ name }) => name },
  { title: 'version', align: 'left', cell: ({ version }) => version },
  { title: 'framework', align: 'left', cell: ({ framework }) => framework },
  { title: 'parameters', align: 'right', cell: ({ parameters }) => `${(parameters / 1e6).toFixed(1)} M` },
  { title: 'description', align: 'left', cell: ({ title }) => title },
];

const REGISTERED_COLUMNS: readonly Column<RegisteredModel>[] = [
  { title: 'name', align: 'left', cell: ({ name }) => name },
  { title: 'version', align: 'left', cell: ({ version }) => version },
  { title: 'framework', align: 'left', cell: ({ framework }) => framework },
  { title: 'inputs', align: 'left', cell: ({ inputs }) => inputs.map(typeText).join(', ') },
  { title: 'output', align: 'left', cell: ({ output }) => (output === null ? '' : typeText(output)) },
  { title: 'labels', align: 'left', cell: ({ output }) => (output === null ? '' : (labelsOf(output) ?? '')) },
  { title: 'checksum', align: 'left', cell: ({ graphChecksum }) => graphChecksum },
  { title: 'agents', align: 'left', cell: ({ agents }) => agents.join(', ') },
];

const COLUMNS: readonly Column<ShownAgent>[] = [
  { title: 'address', align: 'left', cell: ({ address }) => address ?? '(this machine)' },
  {
    title: 'framework',
    align: 'left',
    cell: ({ framework, frameworkVersion }) => `${framework} ${frameworkVersion}`,
  },
  { title: 'architecture', align: 'left', cell: ({ architecture }) => architecture },
  { title: 'processor', align: 'left', cell: ({ processor }) => processor },
  { title: 'cores', align: 'right', cell: ({ cores }) => String(cores) },
  { title: 'memory', align: 'right', cell: ({ memoryBytes }) => `${(memoryBytes / 2 ** 30).toFixed(1)} GiB` },
];

function showRegistered(models: readonly RegisteredModel[], json: boolean, host: OwnedHost): void {
  if (json) {
    host.print(documentText('models', [...models]));
    return;
  }
  const fitting = { width: host.columns?.out, dispensable: ['checksum', 'labels', 'output', 'framework', 'version'] };
  host.print(`${fittingTable(REGISTERED_COLUMNS, models, fitting).text}\n`);
}

/** `mlmodelscope registry models|agents`: lists models and agents. */
export function registerRegistryCommand(program: Command, host: OwnedHost): void {
  const registry = program
    .command('registry')
    .description('List models and agents')
    .addHelpText('after', '\nExamples:\n  mlmodelscope registry models\n  mlmodelscope registry agents');
  registry
    .command('models')
    .description(
      'List the models that agents registered with --server can open, else those that come with the platform; any ONNX file or model manifest works as well',
    )
    .addOption(serverOption("the platform's server"))
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope registry models --json')
    .action(async ({ json, server }: { readonly json?: true; readonly server?: HostPort }) => {
      if (server !== undefined) {
        const agents = await listAgents(formatHostPort(server), { security: host.security.client });
        showRegistered(registeredModels(agents), json ?? false, host);
        return;
      }
      const models = await builtInModels();
      if (json === true) {
        host.print(documentText('models', [...models]));
        return;
      }
      const fitting = { width: host.columns?.out, dispensable: ['version', 'framework', 'name'] };
      host.print(`${fittingTable(MODEL_COLUMNS, models, fitting).text}\n`);
    });
  const agents = registry
    .command('agents')
    .description('List the agents that are registered with --server, or describe the one at --agent or on this machine')
    .addOption(serverOption("the platform's server"));
  addAgentPlaceOptions(agents)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope registry agents --server 127.0.0.1:7080')
    .action(async (flags: AgentsFlags) => {
      const found = await agentsAt(flags, host);
      if (flags.json === true) {
        host.print(documentText('agents', [...found]));
        return;
      }
      const fitting = { width: host.columns?.out, dispensable: ['architecture', 'memory', 'processor'] };
      host.print(`${fittingTable(COLUMNS, found, fitting).text}\n`);
    });
}
