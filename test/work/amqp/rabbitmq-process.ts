import { Connection } from 'rabbitmq-client';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openQueue } from '../../../src/work/open-queue.js';
import type { WorkQueue } from '../../../src/work/work-queue.js';
import type { Lifetime } from '../../support/lifetime.js';
import { temporaryFolder } from '../../store/temporary-folder.js';
import { freePort } from '../../support/free-port.js';

/** The path in Debian's package. The command in /usr/sbin would run it as the user of the system's own broker. */
const SERVER = process.env['RABBITMQ_SERVER'] ?? '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** Options for describe and it: skips if there is no such program. */
export const needsRabbitMq = {
  skip:
    !existsSync(SERVER) && 'needs a broker: install rabbitmq-server, as .ci/run does, or name it by RABBITMQ_SERVER',
};

/** Time limit for a node to start: Erlang's virtual machine, then the applications. */
const START_LIMIT_MS = 60_000;

/** A broker for a test, with its data in a temporary folder. Its process may be stopped and started. */
export interface RabbitMq {
  /** With user and password, the same after every start. */
  readonly uri: string;
  /** The URI of a user without rights. */
  readonly withoutRights: string;
  /** host:port */
  readonly address: string;
  readonly start: () => Promise<void>;
  /** SIGTERM and SIGKILL: resolves when all of its processes have ended. */
  readonly signal: (signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => Promise<void>;
}

const USERS = {
  users: [
    { name: 'alice', password: 'correct-horse', tags: 'administrator' },
    { name: 'bob', password: 'no-rights', tags: '' },
  ],
  vhosts: [{ name: '/' }],
  permissions: [
    { user: 'alice', vhost: '/', configure: '.*', write: '.*', read: '.*' },
    { user: 'bob', vhost: '/', configure: '^$', write: '^$', read: '^$' },
  ],
};

/** @param isFull the broker's disk counts as full, so that it takes no messages */
export async function startRabbitMq(t: Lifetime, { isFull = false } = {}): Promise<RabbitMq> {
  let node: ChildProcess | undefined;
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    if (node?.pid === undefined || node.exitCode !== null || node.signalCode !== null) return;
    // All of its processes have closed its output.
    const ended = once(node, 'close');
    process.kill(-node.pid, name);
    if (name === 'SIGTERM' || name === 'SIGKILL') await ended;
  };
  const folder = await temporaryFolder(t, () => signal('SIGKILL'));
  const port = await freePort();
  const distribution = await freePort();
  const names = await freePort();
  const definitions = join(folder, 'definitions.json');
  await writeFile(definitions, JSON.stringify(USERS));
  await writeFile(
    join(folder, 'rabbitmq.conf'),
    [
      `load_definitions = ${definitions}`,
      `disk_free_limit.absolute = ${isFull ? '1000000GB' : '1MB'}`,
      'log.console.level = error',
      '',
    ].join('\n'),
  );
  await writeFile(join(folder, 'enabled_plugins'), '[].');
  const environment = {
    ...process.env,
    HOME: folder,
    RABBITMQ_NODENAME: `test-${port}@localhost`,
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: join(folder, 'none.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    ERL_EPMD_PORT: String(names),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    // One scheduler: the tests' machine has other work.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1',
  };
  // Erlang's name server. A name server that the node starts itself would not end with the test.
  const nameServer = spawn('epmd', ['-port', String(names)], { stdio: 'ignore', env: environment });
  t.after(() => nameServer.kill('SIGKILL'));
  await untilListening(names);
  const address = `127.0.0.1:${port}`;
  const uri = `amqp://alice:correct-horse@${address}`;

  let said = '';
  const start = async (): Promise<void> => {
    // A process group of its own, since the program is a script that starts others.
    const child = spawn(SERVER, [], { env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    node = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => (said = `${said}${text.toString()}`.slice(-5000)));
    }
    await untilAccepting(uri, () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`RabbitMQ has ended: ${said}`);
    });
  };
  await start();
  return {
    uri,
    withoutRights: `amqp://bob:no-rights@${address}`,
    address,
    start,
    signal,
  };
}

async function untilListening(port: number): Promise<void> {
  for (const deadline = performance.now() + START_LIMIT_MS; ; await sleep(50)) {
    const socket = connect({ port, host: '127.0.0.1' });
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    } finally {
      socket.destroy();
    }
  }
}

/**
 * A broker that listens may still close its first connections: this waits until one of its user is open.
 * @param check throws if it is of no use to wait longer
 */
async function untilAccepting(uri: string, check: () => void): Promise<void> {
  const connection = new Connection({ url: uri, retryLow: 50, retryHigh: 500 });
  let isOpen = false;
  connection.on('connection', () => (isOpen = true));
  connection.on('error', () => undefined);
  try {
    for (const deadline = performance.now() + START_LIMIT_MS; !isOpen; await sleep(50)) {
      check();
      if (performance.now() > deadline) throw new Error(`RabbitMQ takes no connection within ${START_LIMIT_MS} ms`);
    }
  } finally {
    connection.unsafeDestroy();
  }
}

/** A queue of this broker that is closed after the test. */
export async function openQueueFor(t: Lifetime, uri: string, warnings: string[] = []): Promise<WorkQueue> {
  const queue = await openQueue(uri, { onWarning: (warning) => warnings.push(warning) });
  t.after(() => queue.close());
  return queue;
}
