import envPaths from 'env-paths';
import { join, resolve } from 'node:path';
import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import { readManifestBytes } from '../manifest/read-file.js';

/** Names another configuration file. */
const FILE_VARIABLE = 'MLMODELSCOPE_CONFIG';

/** Where the configuration is: MLMODELSCOPE_CONFIG, else `config.yml` in the user's folder for that. */
export function configurationFile(environment: Readonly<NodeJS.ProcessEnv>): string {
  const chosen = environment[FILE_VARIABLE];
  if (chosen !== undefined && chosen !== '') return resolve(chosen);
  return join(envPaths('mlmodelscope', { suffix: '' }).config, 'config.yml');
}

/**
 * Reads the configuration file and puts its settings into the environment, where nothing is set yet: so options win over
 * the environment, and that over the file, in this process and in those that it starts.
 *
 * @throws PlatformError `manifest` with the place of the problem in the file, `usage` where a file that is named is not
 *   there
 */
export async function applyConfiguration(environment: NodeJS.ProcessEnv): Promise<void> {
  const path = configurationFile(environment);
  const file = await readManifestBytes(path);
  if (!file.ok) {
    if (file.found === 'no such file' && !environment[FILE_VARIABLE]) return;
    throw new PlatformError('usage', `${path}: expected a configuration file, found ${file.found}`);
  }
  // Most users have no such file, and its reader takes a while to load.
  const { settingsIn } = await import('./configuration-settings.js');
  const settings = settingsIn(path, file.bytes);
  const unset = Object.entries(settings).filter(([variable, value]) => {
    return value !== undefined && !ownValue(environment, variable);
  });
  Object.assign(environment, Object.fromEntries(unset));
}
