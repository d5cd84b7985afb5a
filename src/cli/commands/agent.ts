import { type Command, Option } from 'commander';
import os from 'node:os';
import type { RunningAgent } from '../../agent/services/server.js';
import { untilAborted } from '../../base/cancellation.js';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { DEFAULT_FRAMEWORK, FRAMEWORK_NAMES, type FrameworkName } from '../../predictor/frameworks.js';
import { announceAgent } from '../../directory/announce-agent.js';
import { type AgentOffer, modelsWithin, offeredFacts } from '../../directory/agent-offer.js';
import { type RuntimePackage, findRuntimePackage } from '../../predictor/runtime-package.js';
import { offeredModels, type OfferedModels } from '../../registry/offered-models.js';
import { formatHostPort, type HostPort, isLoopbackHost } from '../../rpc/loopback.js';
import { accessFileOption, serverSecurity } from '../access-file.js';
import { addressOption, parseAddress, serversOption } from '../address.js';
import type { OwnedHost } from '../host.js';
import { runsOn } from '../../command/load-models.js';
import { queueOption } from './queue-option.js';
import { storeDescription } from '../../command/store-description.js';

const DEFAULT_AGENT = '127.0.0.1:7070';

interface AgentFlags {
  readonly listen: HostPort;
  readonly framework: FrameworkName;
  readonly runtime?: RuntimePackage;
  readonly server?: readonly HostPort[];
  readonly queue?: string;
  readonly accessFile?: string;
  readonly store?: string;
  readonly advertise?: HostPort;
  readonly models?: string;
  readonly allowVersion?: true;
  readonly datasets?: string;
  readonly allowPrivateUrls?: true;
}

function advertised({ listen, server: servers = [], advertise }: AgentFlags, { address }: RunningAgent): string {
  if (advertise !== undefined) return formatHostPort(advertise);
  const isWildcard = listen.host === '0.0.0.0' || listen.host === '::';
  const isAskedFromElsewhere = servers.some(({ host }) => !isLoopbackHost(host));
  if (isWildcard || (isLoopbackHost(listen.host) && isAskedFromElsewhere)) {
    const example = `--advertise ${os.hostname()}:${listen.port}`;
    throw new PlatformError(
      'usage',
      `other machines cannot reach this agent at ${address}; name an address that they can reach: ${example}`,
    );
  }
  return address;
}

function makeOffer(agent: RunningAgent, address: string, known: OfferedModels, host: OwnedHost): AgentOffer {
  const offer = { address, tls: host.security.server.identity !== undefined, ...offeredFacts(agent.description) };
  const { models, leftOut } = modelsWithin(offer, known.models);
  if (leftOut > 0) {
    const unlisted = counted(leftOut, 'model');
    host.warn(`warning: the registration does not list ${unlisted}, for lack of room; clients can open all models`);
  }
  return { ...offer, models };
}

/** Keeps the agent registered with the platform's servers until the signal aborts, or a server refuses the agent. */
async function stayRegistered(
  agent: RunningAgent,
  known: OfferedModels,
  servers: readonly HostPort[],
  flags: AgentFlags,
  host: OwnedHost,
  signal: AbortSignal,
): Promise<void> {
  const offer = makeOffer(agent, advertised(flags, agent), known, host);
  const refused = new AbortController();
  const announced = servers.map(async (server) => {
    const address = formatHostPort(server);
    await announceAgent(offer, address, {
      signal: AbortSignal.any([signal, refused.signal]),
      client: { security: host.security.client },
      accessToken: agent.accessToken,
      onRegistered: (isAgain) => {
        host.print(`registered ${isAgain ? 'again ' : ''}with ${address} as ${offer.address}\n`);
      },
      onLost: (problem) => host.warn(`warning: ${problem}; trying again until the server answers`),
    }).finally(() => refused.abort());
  });
  await Promise.allSettled(announced);
  await Promise.all(announced);
}

/** The callers that ask for work do not read the user's own store on this machine, so a shared store must be named. */
function assertSharedStore({ queue, store }: AgentFlags): void {
  if (queue === undefined || store !== undefined || process.env['MLMODELSCOPE_STORE']) return;
  const example = '--store mongodb://HOST/DATABASE';
  throw new PlatformError('usage', `--queue also needs the store that the callers of the queue use: ${example}`);
}

export function registerAgentCommand(program: Command, host: OwnedHost): void {
  program
    .command('agent')
    .description('Serve this machine: measure benchmarks and open models over gRPC, until stopped with Ctrl-C')
    .addOption(addressOption('--listen <host:port>', 'address to listen on; port 0 takes a free one', DEFAULT_AGENT))
    .addOption(
      new Option('--framework <name>', 'framework that runs the models')
        .choices(FRAMEWORK_NAMES)
        .default(DEFAULT_FRAMEWORK),
    )
    .option(
      '--runtime <package>',
      'onnxruntime-node@VERSION or onnxruntime-node@FOLDER: load this package, which npm installed, instead of the usual one',
      findRuntimePackage,
    )
    .addOption(
      serversOption(
        "the platform's server; the agent stays registered with it. Several servers of one store: HOST:PORT,…",
      ),
    )
    .addOption(queueOption('this agent takes work from, in addition to requests; needs --store'))
    .addOption(accessFileOption())
    .option('--store <uri>', storeDescription('measurements of work from --queue'))
    .option(
      '--advertise <host:port>',
      'address that others use for this agent (default: the address of --listen)',
      parseAddress,
    )
    .option('--models <dir>', 'folder of further model manifests that clients may open')
    .option('--allow-version', 'open models on other versions of the framework than their manifests ask for')
    .option('--datasets <dir>', 'folder of datasets that clients may predict for, one folder each')
    .option('--allow-private-urls', 'also fetch pictures from this machine and its private network')
    .addHelpText(
      'after',
      `
The agent measures one benchmark at a time, in a process of its own. It answers
the standard gRPC health check at any time. It needs TLS and a token if other
machines can reach it.

Examples:
  mlmodelscope agent --listen 127.0.0.1:7070
  mlmodelscope agent --framework onnxruntime-web
  mlmodelscope agent --runtime onnxruntime-node@1.27.0
  mlmodelscope dlbricks validate zoo:resnet18 --agent 127.0.0.1:7070
  mlmodelscope agent --server 127.0.0.1:7080 --queue amqp://mq.example \\
    --store mongodb://db.example/results
  mlmodelscope agent --listen 10.0.0.7:7070 --server platform.example:7080 \\
    --tls-cert agent.pem --tls-key agent-key.pem --tls-ca ca.pem \\
    --token-file token`,
    )
    .action(async (flags: AgentFlags) => {
      const { listen, framework, runtime, server, queue, accessFile } = flags;
      assertSharedStore(flags);
      if (runtime !== undefined && framework !== DEFAULT_FRAMEWORK) {
        throw new PlatformError('usage', `--runtime names a package of ${DEFAULT_FRAMEWORK}; leave out --framework`);
      }
      const security = await serverSecurity(accessFile, host);
      const { models, allowVersion } = flags;
      const access = {
        datasetsFolder: flags.datasets,
        ...(flags.allowPrivateUrls && { isAllowedAddress: () => true }),
      };
      const settings = { ...listen, framework, packageFolder: runtime?.folder, security, access };
      const { startCommandAgent } = await import('../start-agent.js');
      const agent = await startCommandAgent({ ...settings, models, allowVersion });
      try {
        const known = await offeredModels(runsOn(agent, flags), models);
        for (const reason of known.leftOut) host.warn(`warning: not offered: ${reason}`);
        host.print(`agent listening on ${agent.address}\n`);
        const ended = new AbortController();
        const signal = AbortSignal.any([host.signal, ended.signal]);
        const takeWork = async (uri: string): Promise<void> => {
          const results = await host.openStore(flags.store);
          const opened = await host.openQueue(uri);
          const { serveQueue } = await import('../serve-queue.js');
          await serveQueue(agent, opened, results, host, signal);
        };
        const parts = [
          ...(server === undefined ? [] : [stayRegistered(agent, known, server, flags, host, signal)]),
          ...(queue === undefined ? [] : [takeWork(queue)]),
        ];
        // Where one part fails, the other part ends as well.
        const all = parts.map((part) => part.finally(() => ended.abort()));
        await Promise.allSettled(all);
        await (all.length === 0 ? untilAborted(signal) : Promise.all(all));
      } finally {
        await agent.close();
      }
    });
}
