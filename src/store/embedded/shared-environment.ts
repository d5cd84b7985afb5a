import { Environment, lmdbError } from './environment.js';
import { prepareFolder } from './folder.js';

interface Shared {
  readonly environment: Promise<Environment>;
  users: number;
}

/** By real path. A second environment on the same files in one process would drop the first one's file locks. */
const openEnvironments = new Map<string, Shared>();

const closing = new Map<string, Promise<void>>();

/** Opens the environment in `folder`, or shares the one that this process has open. Not for worker threads. */
export async function acquireEnvironment(folder: string): Promise<Environment> {
  try {
    const path = prepareFolder(folder);
    while (closing.has(path)) await closing.get(path);
    const shared = openEnvironments.get(path) ?? { environment: Environment.open(path), users: 0 };
    openEnvironments.set(path, shared);
    shared.users += 1;
    try {
      return await shared.environment;
    } catch (thrown) {
      if (openEnvironments.get(path) === shared) openEnvironments.delete(path);
      throw thrown;
    }
  } catch (thrown) {
    throw lmdbError(folder, 'cannot be opened', thrown);
  }
}

/** Call it once per acquired environment. The last call closes the environment. */
export async function releaseEnvironment(environment: Environment): Promise<void> {
  const path = environment.folder;
  const shared = openEnvironments.get(path);
  if (shared === undefined) return;
  shared.users -= 1;
  if (shared.users > 0) return;
  openEnvironments.delete(path);
  const closed = environment.close().finally(() => closing.delete(path));
  closing.set(path, closed);
  await closed;
}
