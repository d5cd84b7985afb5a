import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { fittingTable } from '../../base/fitting-table.js';
import { oneLine } from '../../base/one-line.js';
import { type Column, left, right } from '../../base/text-table.js';
import { wrap } from '../../base/wrap.js';
import { addAgentPlaceOptions, type AgentOptions } from '../../command/options.js';
import { tableText } from '../../command/table-text.js';
import { ANY_RUN, identifySystem, type System } from '../../measurement/system.js';
import { type BuiltInModel, builtInModels } from '../../registry/built-in-models.js';
import { listAgents, type ListedAgent } from '../../directory/list-agents.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import { serverOption } from '../address.js';
import type { OwnedHost } from '../host.js';
import { documentText } from '../document-text.js';
import type { RegisteredModel } from '../json-documents.js';
import { findLabels, registeredModels, typeText } from '../registered-models.js';

type ShownAgent =
  (Omit<ListedAgent, 'models'> & { readonly models: string[] }) | (System & { readonly address: string | null });

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
  left('reference', ({ reference }) => reference),
  left('name', ({ name }) => name),
  left('version', ({ version }) => version),
  left('framework', ({ framework }) => framework),
  left('task', ({ task }) => task ?? ''),
  right('parameters', ({ parameters }) => `${(parameters / 1e6).toFixed(1)} M`),
  left('description', ({ title }) => title),
];

const REGISTERED_COLUMNS: readonly Column<RegisteredModel>[] = [
  left('name', ({ name }) => name),
  left('version', ({ version }) => version),
  left('framework', ({ framework }) => framework),
  left('task', ({ task }) => task ?? ''),
  left('inputs', ({ inputs }) => inputs.map(typeText).join(', ')),
  left('output', ({ output }) => (output === null ? '' : typeText(output))),
  left('labels', ({ output }) => (output === null ? '' : (findLabels(output) ?? ''))),
  left('checksum', ({ graphChecksum }) => graphChecksum),
  left('agents', ({ agents }) => agents.join(', ')),
];

const COLUMNS: readonly Column<ShownAgent>[] = [
  left('address', ({ address }) => address ?? '(this machine)'),
  left('framework', ({ framework, frameworkVersion }) => `${framework} ${frameworkVersion}`),
  left('architecture', ({ architecture }) => architecture),
  left('processor', ({ processor }) => processor),
  right('cores', ({ cores }) => String(cores)),
  right('memory', ({ memoryBytes }) => `${(memoryBytes / 2 ** 30).toFixed(1)} GiB`),
];

interface ModelsFlags {
  readonly json?: true;
  readonly server?: HostPort;
  readonly name?: string;
  readonly task?: string;
  readonly framework?: string;
}

function isWanted(model: BuiltInModel | RegisteredModel, flags: ModelsFlags): boolean {
  const { name, task, framework } = model;
  const title = 'title' in model ? model.title : '';
  const has = (text: string, wanted = ''): boolean => text.toLowerCase().includes(wanted.toLowerCase());
  return has(`${name}\n${title}`, flags.name) && has(task ?? '', flags.task) && has(framework, flags.framework);
}

/** As JSON, as a table within a terminal, or elsewhere as lines for other programs, with tabs between values. */
function showModels<Model extends BuiltInModel | RegisteredModel>(
  all: readonly Model[],
  columns: readonly Column<Model>[],
  dispensable: readonly string[],
  flags: ModelsFlags,
  host: OwnedHost,
): void {
  const models = all.filter((model) => isWanted(model, flags));
  if (flags.json === true) {
    host.print(documentText('models', [...models]));
    return;
  }
  if (all.length === 0) {
    const remedy = '`mlmodelscope agent --server ADDRESS` registers one';
    throw new PlatformError('not_found', `no registered agent offers a model; ${remedy}`);
  }
  if (models.length === 0) {
    const tasks = [...new Set(all.flatMap(({ task }) => task ?? []))].sort().join(', ') || 'none';
    throw new PlatformError('not_found', `none of ${counted(all.length, 'model')} fits; the tasks are: ${tasks}`);
  }
  const width = host.columns?.out;
  if (width === undefined) {
    const lines = models.map((model) => columns.map(({ cell }) => oneLine(cell(model))).join('\t'));
    host.print(`${lines.join('\n')}\n`);
    return;
  }
  const table = fittingTable(columns, models, { width, dispensable });
  const { leftOut } = table;
  const note = wrap(`This terminal is too narrow for: ${leftOut.join(', ')}; --json shows all.`, width, '  ');
  host.print(`${[table.text, ...(leftOut.length === 0 ? [] : [note])].join('\n')}\n`);
}

export function registerRegistryCommand(program: Command, host: OwnedHost): void {
  const registry = program
    .command('registry')
    .description('List models and agents')
    .addHelpText('after', '\nExamples:\n  mlmodelscope registry models --name resnet\n  mlmodelscope registry agents');
  registry
    .command('models')
    .description(
      'List the models that agents registered with --server can open, else those that come with the platform; any ONNX file or model manifest works as well',
    )
    .addOption(serverOption("the platform's server"))
    .option('--name <text>', 'only models with this text in their names or descriptions')
    .option('--task <text>', 'only models for this task, as in image_classification')
    .option('--framework <text>', 'only models that need this framework')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
In a pipe or a file, each model is a line of values with tabs between them.

Examples:
  mlmodelscope registry models --task detection
  mlmodelscope registry models --name resnet | cut -f1`,
    )
    .action(async (flags: ModelsFlags) => {
      if (flags.server !== undefined) {
        const agents = await listAgents(formatHostPort(flags.server), { security: host.security.client });
        const dispensable = ['checksum', 'labels', 'output', 'inputs', 'framework', 'version', 'task'];
        showModels(registeredModels(agents), REGISTERED_COLUMNS, dispensable, flags, host);
      } else {
        const dispensable = ['name', 'version', 'framework', 'task'];
        showModels(await builtInModels(), MODEL_COLUMNS, dispensable, flags, host);
      }
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
      host.print(tableText(COLUMNS, found, ['architecture', 'memory', 'processor'], host));
    });
}
