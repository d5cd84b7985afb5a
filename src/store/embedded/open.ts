import { warnThroughNode, type ResultStore, type StoreOptions } from '../result-store.js';
import { networkWarning } from './network-file-system.js';
import { EmbeddedResultStore } from './result-store.js';
import { acquireEnvironment } from './shared-environment.js';

/** Opens the store in `folder`, creating both. Throws a PlatformError with code `storage`. */
export async function openEmbeddedStore(folder: string, options: StoreOptions): Promise<ResultStore> {
  const environment = await acquireEnvironment(folder);
  const warning = networkWarning(environment.folder);
  if (warning !== undefined) (options.onWarning ?? warnThroughNode)(warning);
  return new EmbeddedResultStore(environment, options);
}
