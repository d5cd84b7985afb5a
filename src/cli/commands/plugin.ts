import { type Command, Option } from 'commander';
import { Socket } from 'node:net';
import { connectAgent } from '../../agent/client/agent-client.js';
import { storeDescription } from '../../command/store-description.js';
import { PlatformError } from '../../base/errors.js';
import { attachPlugin } from '../../evaluation/run/attach-plugin.js';
import type { Evaluation } from '../../evaluation/evaluation.js';
import type { Plugin } from '../../evaluation/plugin.js';
import type { PluginTools } from '../../evaluation/run/run-evaluation.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import type { ClientSecurity } from '../../rpc/security.js';
import type { ResultStore } from '../../store/result-store.js';
import { queuedAgent } from '../../work/queued-agent.js';
import type { WorkQueue } from '../../work/work-queue.js';
import { serverOption } from '../address.js';
import { cachedGraphs } from '../cached-graphs.js';
import type { OwnedHost } from '../host.js';
import { queueOption } from './queue-option.js';

interface PluginFlags {
  readonly server: HostPort;
  readonly store?: string;
  readonly queue?: string;
  readonly ofParent?: true;
  readonly plainServer?: true;
}

function requireEvaluation(name: string, plugins: readonly Plugin[]): Evaluation {
  const evaluations = plugins.flatMap(({ evaluation }) => evaluation ?? []);
  const found = evaluations.find((evaluation) => evaluation.name === name);
  if (found !== undefined) return found;
  const names = evaluations.map((evaluation) => evaluation.name).join(', ');
  throw new PlatformError('usage', `there is no plugin ${name} with an evaluation; there are ${names}`);
}

/** Aborts with the host's signal, or when standard input ends because the parent process has ended. */
function endOfParent(signal: AbortSignal): AbortSignal {
  const gone = new AbortController();
  process.stdin.on('close', () => gone.abort()).on('error', () => gone.abort());
  process.stdin.resume();
  // Waiting for the parent's end alone keeps no process alive.
  if (process.stdin instanceof Socket) process.stdin.unref();
  return AbortSignal.any([signal, gone.signal]);
}

/** @param queue where agents take work; undefined: requests go to each agent directly */
function makeTools(store: ResultStore, security: ClientSecurity, queue: WorkQueue | undefined): PluginTools {
  return {
    store,
    connect: async ({ address, tls, token }) => {
      // An agent gets its own token only: anyone who may register an agent would get this plugin's.
      return cachedGraphs(await connectAgent(address, { security: { ...security, token: token || undefined }, tls }));
    },
    ...(queue === undefined ? {} : { shared: (agent) => queuedAgent(queue, agent, store) }),
  };
}

export function registerPluginCommand(program: Command, host: OwnedHost, plugins: readonly Plugin[]): void {
  program
    .command('plugin')
    .description("Run a plugin's evaluations for a server, in this process, until stopped with Ctrl-C")
    .argument('<name>', 'name of the plugin, as in manifests')
    .addOption(serverOption('address of the server').makeOptionMandatory())
    .option('--store <uri>', storeDescription('measurements'))
    .addOption(queueOption('agents take their work from; they use the same store'))
    .addOption(new Option('--of-parent', 'end when standard input does').hideHelp())
    .addOption(new Option('--plain-server', 'without TLS between this process and a server on loopback').hideHelp())
    .addHelpText(
      'after',
      `
The plugin connects to the server, so it can run behind a firewall. It must be
able to reach the agents. Each plugin process runs one evaluation at a time;
start more processes to run more.

Example:
  mlmodelscope plugin dlbricks --server 127.0.0.1:7080`,
    )
    .action(async (name: string, flags: PluginFlags) => {
      const evaluation = requireEvaluation(name, plugins);
      const address = formatHostPort(flags.server);
      if (flags.ofParent === true) host.warnAs(`plugin ${name}`);
      const store = await host.openStore(flags.store);
      const { client: security } = host.security;
      const queue = flags.queue === undefined ? undefined : await host.openQueue(flags.queue);
      await attachPlugin(evaluation, address, makeTools(store, security, queue), {
        client: { security, ...(flags.plainServer === true ? { tls: false } : {}) },
        signal: flags.ofParent === true ? endOfParent(host.signal) : host.signal,
        onRegistered: () => host.print(`plugin ${name} registered with ${address}\n`),
        onLost: (problem) => {
          // The server of a parent is gone only when the parent ends.
          if (flags.ofParent !== true) host.warn(`warning: ${problem}; trying again until the server answers`);
        },
      });
    });
}
