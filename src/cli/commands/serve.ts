import { resolve } from 'node:path';
import type { Command } from 'commander';
import { storeDescription } from '../../command/store-description.js';
import { untilAborted } from '../../base/cancellation.js';
import { PlatformError } from '../../base/errors.js';
import type { Plugin } from '../../evaluation/plugin.js';
import type { HostPort } from '../../rpc/loopback.js';
import type { ServerSecurity } from '../../rpc/security.js';
import { accessFileOption, serverSecurity } from '../access-file.js';
import { addressOption, parseAddress } from '../address.js';
import { pluginsFolder } from '../configuration.js';
import { DEFAULT_SERVER } from '../evaluations.js';
import type { OwnedHost } from '../host.js';
import { keepPluginRunning } from '../plugin-processes.js';
import type { GlobalOptions } from '../program.js';
import { queueOption } from './queue-option.js';

interface ServeFlags {
  readonly listen: HostPort;
  readonly http?: HostPort;
  readonly store?: string;
  readonly queue?: string;
  readonly accessFile?: string;
  /** false for --no-plugins; undefined for all. */
  readonly plugins?: readonly string[] | false;
}

function choosePlugins({ plugins: wanted }: ServeFlags, plugins: readonly Plugin[]): readonly string[] {
  const names = plugins.flatMap(({ evaluation }) => evaluation?.name ?? []);
  if (wanted === undefined) return names;
  if (wanted === false) return [];
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length === 0) return wanted;
  throw new PlatformError('usage', `--plugins: there is no ${unknown.join(' and no ')}; there are ${names.join(', ')}`);
}

function argumentsFor(door: string, flags: ServeFlags & GlobalOptions, plugins: readonly string[]): string[] {
  const { store, queue, tlsCert, tlsKey, tlsCa, tokenFile } = flags;
  const passedOn = Object.entries({
    ...{ '--server': door, '--store': store, '--queue': queue },
    ...{ '--tls-cert': tlsCert, '--tls-key': tlsKey, '--tls-ca': tlsCa, '--token-file': tokenFile },
  }).flatMap(([option, value]) => (value === undefined ? [] : [option, value]));
  return ['--plain-server', ...passedOn, ...plugins.flatMap((path) => ['--plugin', path])];
}

/** The server's security settings. The plugins that it runs present the server's own token, so it must be accepted. */
async function readSecurity({ accessFile }: ServeFlags, hasPlugins: boolean, host: OwnedHost): Promise<ServerSecurity> {
  const security = await serverSecurity(accessFile, host);
  const { token, acceptedTokens } = security;
  if (accessFile === undefined || !hasPlugins) return security;
  const role = token === undefined ? undefined : acceptedTokens?.find(token)?.role;
  if (role === 'plugin' || role === 'full') return security;
  const problem = `the plugins of this server need a token of --access-file ${accessFile} with the role plugin or full`;
  throw new PlatformError('usage', `${problem}: give it by --token-file, or run no plugins (--no-plugins)`);
}

export function registerServeCommand(program: Command, host: OwnedHost, plugins: readonly Plugin[]): void {
  program
    .command('serve')
    .description('Serve the platform: registry of agents, evaluations, plugins, pages, until stopped with Ctrl-C')
    .addOption(addressOption('--listen <host:port>', 'address to listen on; port 0 takes a free one', DEFAULT_SERVER))
    .option('--http <host:port>', 'also serve pages for browsers and an HTTP API here (docs/web.md)', parseAddress)
    .option('--store <uri>', storeDescription('evaluations'))
    .addOption(queueOption('agents take their work from; they use the same store'))
    .addOption(accessFileOption())
    .option('--plugins <name...>', 'plugins to run here, each in a process of its own (default: all that are built in)')
    .option('--no-plugins', 'run no plugins here; plugins connect by themselves')
    .addHelpText(
      'after',
      `
The store keeps the evaluations. After a restart, the server continues those
that have not ended. Several servers may use one store. The server needs TLS and
a token if other machines can reach it.

Examples:
  mlmodelscope serve
  mlmodelscope serve --http 127.0.0.1:7081
  mlmodelscope agent --server 127.0.0.1:7080
  mlmodelscope evaluate evaluation.yml --server 127.0.0.1:7080
  mlmodelscope serve --store mongodb://HOST/DB --queue amqp://mq.example
  mlmodelscope serve --listen 10.0.0.5:7080 \\
    --tls-cert server.pem --tls-key server-key.pem --token-file token \\
    --access-file access.yml`,
    )
    .action(async (flags: ServeFlags, command: Command) => {
      if (flags.store?.startsWith('memory:') === true) {
        throw new PlatformError('usage', '--store memory: is lost when the server ends; name a folder or a database');
      }
      const names = choosePlugins(flags, plugins);
      const security = await readSecurity(flags, names.length > 0, host);
      // Only the plugins use the queue. It is opened here to report a broker that cannot be used.
      if (flags.queue !== undefined) await (await host.openQueue(flags.queue)).close();
      const store = await host.openStore(flags.store);
      const onWarning = (message: string): void => host.warn(`warning: ${message}`);
      const { listen } = flags;
      const globals = command.optsWithGlobals<ServeFlags & GlobalOptions>();
      const paths = (globals.plugin ?? []).map((path) => resolve(path));
      // Loaded here, because other commands need no server, and loading one takes as long as a short command.
      const { startServer, openBackDoor, ResultPages } = await import('../serving.js');
      const { client: agentSecurity } = host.security;
      const pages = new ResultPages({ paths, folder: pluginsFolder() });
      const http = flags.http && { listen: flags.http, showResult: pages.show.bind(pages) };
      const server = await startServer({
        listen,
        http,
        store,
        security,
        agentSecurity,
        analysts: plugins,
        ownPlugins: names,
      });
      const door = await openBackDoor(server, security);
      const args = argumentsFor(door.address, globals, paths);
      const { platform, address, httpAddress } = server;
      const isAttached = (name: string): boolean => platform.plugins().some((plugin) => plugin.name === name);
      host.print(`server listening on ${address}\n`);
      if (httpAddress !== undefined) {
        host.print(`pages at ${security.identity === undefined ? 'http' : 'https'}://${httpAddress}/\n`);
      }
      const ended = new AbortController();
      const signal = AbortSignal.any([host.signal, ended.signal]);
      const kept = names.map((name) => keepPluginRunning(name, { args, isAttached, onWarning, signal }));
      await untilAborted(host.signal);
      // The server closes before the plugins end, so that their end does not count as a failure.
      await server.close();
      pages.close();
      await door.close(new PlatformError('unavailable', 'the server is shutting down'));
      ended.abort();
      await Promise.all(kept);
    });
}
