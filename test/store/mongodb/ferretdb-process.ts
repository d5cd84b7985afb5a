import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { Lifetime } from '../../support/lifetime.js';
import { temporaryFolder } from '../temporary-folder.js';
import { freePort } from '../../support/free-port.js';

/** Path of the server that these tests start, stop and kill; test/store/mongodb/ferretdb.sh builds it. */
const FERRETDB = process.env['FERRETDB'];

/** For describe and it: skips where there is no such program. */
export const needsFerretDb = {
  skip: FERRETDB === undefined && 'needs a server to stop: run by test/store/mongodb/ferretdb.sh',
};

const USER = { name: 'alice', password: 'correct-horse' };

/** A server of its own, with its data in a temporary folder, as a process that may be stopped and started. */
export interface FerretDb {
  /** host:port, the same after every start. */
  readonly address: string;
  readonly start: () => Promise<void>;
  readonly signal: (signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => Promise<void>;
}

/**
 * @param authenticated wants the user alice, with the password correct-horse
 * @param pages most that a database's file may have, of 4 KiB each; beyond, the server's disk counts as full
 */
export async function startFerretDb(t: Lifetime, { authenticated = false, pages = 0 } = {}): Promise<FerretDb> {
  if (FERRETDB === undefined) throw new Error('FERRETDB is not set');
  let process: ChildProcess | undefined;
  const signal = async (signal: NodeJS.Signals): Promise<void> => {
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.kill(signal);
    if (signal === 'SIGTERM' || signal === 'SIGKILL') await ended;
  };
  const folder = await temporaryFolder(t, () => signal('SIGKILL'));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    '--handler=sqlite',
    `--sqlite-url=file:${folder}/${pages > 0 ? `?_pragma=max_page_count(${pages})` : ''}`,
    `--state-dir=${folder}`,
    `--listen-addr=${address}`,
    '--debug-addr=-',
    '--telemetry=disable',
    '--log-level=error',
    ...(authenticated
      ? [
          '--test-enable-new-auth',
          '--setup-database=admin',
          `--setup-username=${USER.name}`,
          `--setup-password=${USER.password}`,
        ]
      : []),
  ];
  const start = async (): Promise<void> => {
    process = spawn(FERRETDB, args, { stdio: 'ignore' });
    await untilAnswering(address);
  };
  await start();
  return { address, start, signal };
}

/** Also where a user is wanted: a greeting needs none. */
async function untilAnswering(address: string): Promise<void> {
  for (const deadline = performance.now() + 20_000; ; await sleep(50)) {
    const client = new MongoClient(`mongodb://${address}`, { serverSelectionTimeoutMS: 1000 });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    } finally {
      await client.close();
    }
  }
}
