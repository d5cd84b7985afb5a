import { messageOf } from '../../base/errors.js';
import { openMongoStore } from '../mongodb/open.js';
import { warnThroughNode, type ResultStore, type StoreOptions } from '../result-store.js';
import { SpoolingResultStore } from './result-store.js';
import { Spool, spoolFolder } from './spool.js';

/** With a spool for outages of the server. @param dataFolder the user's data folder, which has the spools */
export async function openTeamStore(uri: string, dataFolder: string, options: StoreOptions): Promise<ResultStore> {
  const remote = await openMongoStore(uri, options);
  const { address } = remote;
  const warn = options.onWarning ?? warnThroughNode;
  const spool = new Spool(spoolFolder(dataFolder, address), options);
  try {
    if (!(await spool.isEmpty())) {
      warn(`results for ${address} wait in ${spool.folder}: send them with "mlmodelscope store sync"`);
    }
  } catch (thrown) {
    warn(`${messageOf(thrown)} Results that wait for ${address} in this folder are not seen.`);
  }
  return new SpoolingResultStore(remote, spool, { warn, onSpooled: options.onSpooled ?? (() => undefined) });
}
