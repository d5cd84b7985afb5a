import { messageOf } from '../../base/errors.js';
import { openMongoStore } from '../mongodb/open.js';
import type { MongoResultStore } from '../mongodb/result-store.js';
import { warnThroughNode, type ResultStore, type StoreOptions } from '../result-store.js';
import { SpoolingResultStore } from './result-store.js';
import { Spool, spoolFolder } from './spool.js';
import { sendSpooled } from './sync.js';

/** With a spool for outages of the server. @param dataFolder the user's data folder, which has the spools */
export async function openTeamStore(uri: string, dataFolder: string, options: StoreOptions): Promise<ResultStore> {
  const remote = await openMongoStore(uri, options);
  const { address } = remote;
  const warn = options.onWarning ?? warnThroughNode;
  const spool = new Spool(spoolFolder(dataFolder, address), options);
  try {
    if (!(await spool.isEmpty())) await sendWaiting(spool, remote, { ...options, onWarning: warn });
  } catch (thrown) {
    warn(`${messageOf(thrown)} Results that wait for ${address} in this folder are not seen.`);
  }
  return new SpoolingResultStore(remote, spool, { warn, onSpooled: options.onSpooled ?? (() => undefined) });
}

/** What an ended process left, before anything newer is stored: an older write never replaces a newer one. */
async function sendWaiting(
  spool: Spool,
  remote: MongoResultStore,
  { access, onWarning: warn, signal }: StoreOptions & Required<Pick<StoreOptions, 'onWarning'>>,
): Promise<void> {
  const waiting = `results for ${remote.address} wait in ${spool.folder}`;
  if (access === 'read') return warn(`${waiting}: send them with "mlmodelscope store sync"`);
  warn(`${waiting}; they are sent first`);
  try {
    await sendSpooled(spool, remote, signal);
    if (await spool.isEmpty()) warn(`the database has all results that were kept in ${spool.folder}`);
  } catch (thrown) {
    warn(`${messageOf(thrown)} They still wait: send them with "mlmodelscope store sync".`);
  }
}
