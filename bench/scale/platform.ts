import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connectEvaluations, type EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import { openQueue } from '../../src/work/open-queue.js';
import type { WorkQueue } from '../../src/work/work-queue.js';
import { temporaryFolder } from '../../test/store/temporary-folder.js';
import type { Lifetime } from '../../test/support/lifetime.js';
import { until } from '../../test/support/until.js';
import type { AgentSettings, AgentTold, WaitedItem } from './agent-messages.js';
import type { Database } from './database.js';
import { SCALE } from './plugin.js';

const MAIN = fileURLToPath(new URL('../../../lib/src/bin/main.js', import.meta.url));
const PLUGIN = fileURLToPath(new URL('./plugin.js', import.meta.url));
const AGENT = fileURLToPath(new URL('./agent.js', import.meta.url));

/** Number of agents that start at the same time; each start takes half a second of a core. */
const STARTING = 4;

/** The size of a platform, and the time of a brick on it. */
export interface PlatformSize {
  readonly agents: number;
  readonly servers: number;
  /** Mean wait for a brick; ms. */
  readonly brickMs: number;
}

/** An item, and the time at which an agent reported it, on the clock of this process. */
export interface ToldItem extends WaitedItem {
  readonly toldMs: number;
}

/** A platform of real processes. */
export interface ScalePlatform {
  /** One client for each server. */
  readonly clients: readonly EvaluationClient[];
  /** Items that agents have waited for since the last call. */
  readonly takeItems: () => readonly ToldItem[];
  readonly databasePid: number | undefined;
}

/** Resolves with the group of a pattern when the process prints it. @throws Error where the process ends before that */
async function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (data: Buffer) => {
      text += data.toString();
      const [, found] = pattern.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`a process ended before it said ${String(pattern)}: ${text}`)));
  });
}

async function stopAll(children: readonly ChildProcess[]): Promise<void> {
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ended = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ended);
}

async function startServer(
  t: Lifetime,
  { store, queue }: { readonly store: string; readonly queue: string },
  env: NodeJS.ProcessEnv,
): Promise<{ readonly address: string; readonly client: EvaluationClient }> {
  const options = ['--plugin', PLUGIN, 'serve', '--listen', '127.0.0.1:0', '--plugins', SCALE];
  const child = spawn(process.execPath, [MAIN, ...options, '--store', store, '--queue', queue], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  t.after(() => stopAll([child]));
  const address = await said(child, /server listening on (\S+)/);
  const client = connectEvaluations(address);
  t.after(() => client.close());
  await until(async () => (await client.plugins()).length > 0);
  return { address, client };
}

/** Starts an agent. `registered` resolves with its class of systems when all servers know it. */
function startAgent(
  settings: AgentSettings,
  env: NodeJS.ProcessEnv,
  onItem: (item: WaitedItem) => void,
): { readonly child: ChildProcess; readonly registered: Promise<string> } {
  const child = fork(AGENT, [JSON.stringify(settings)], { env });
  const registered = new Promise<string>((resolve, reject) => {
    child.on('message', (told: AgentTold) => {
      if (told.kind === 'registered') resolve(told.system);
      else onItem(told);
    });
    child.once('exit', () => reject(new Error(`the agent ${settings.host} ended before it was registered`)));
  });
  // The promise rejects when the agent is stopped, too, which is no error.
  registered.catch(() => undefined);
  return { child, registered };
}

async function untilServing(queue: WorkQueue, system: string, agents: number): Promise<void> {
  await until(async () => (await queue.state(system)).serving === agents);
}

/**
 * Starts servers with their plugins, and agents, each a process of its own, and waits until every agent takes work.
 *
 * @param queue that all of them use, like the database
 */
export async function startPlatform(
  t: Lifetime,
  { database, queue: queueUri }: { readonly database: Database; readonly queue: string },
  { agents, servers, brickMs }: PlatformSize,
): Promise<ScalePlatform> {
  const places = { store: database.uri, queue: queueUri };
  const folder = await temporaryFolder(t);
  // The processes read and write none of the user's files.
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder };
  // One by one: the first one prepares the store.
  const started = [];
  for (let index = 0; index < servers; index += 1) started.push(await startServer(t, places, env));
  const addresses = started.map(({ address }) => address);

  const items: ToldItem[] = [];
  const children: ChildProcess[] = [];
  t.after(() => stopAll(children));
  let system = '';
  for (let first = 0; first < agents; first += STARTING) {
    const starting = Array.from({ length: Math.min(STARTING, agents - first) }, (_, index) => {
      const settings = { host: `machine-${first + index + 1}`, servers: addresses, brickMs, ...places };
      const agent = startAgent(settings, env, (item) => items.push({ ...item, toldMs: performance.now() }));
      children.push(agent.child);
      return agent.registered;
    });
    [system = ''] = await Promise.all(starting);
  }
  const queue = await openQueue(queueUri, { onWarning: (message) => console.error(message) });
  try {
    await untilServing(queue, system, agents);
  } finally {
    await queue.close();
  }
  return { clients: started.map(({ client }) => client), takeItems: () => items.splice(0), databasePid: database.pid };
}
