import envPaths from 'env-paths';
import { dirname, join, resolve } from 'node:path';
import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import { readManifestBytes } from '../manifest/read-file.js';

const FILE_VARIABLE = 'MLMODELSCOPE_CONFIG';

/** Path of the configuration file: MLMODELSCOPE_CONFIG, else `config.yml` in the user's configuration folder. */
export function configurationFile(environment: Readonly<NodeJS.ProcessEnv>): string {
  const chosen = environment[FILE_VARIABLE];
  if (chosen !== undefined && chosen !== '') return resolve(chosen);
  return join(envPaths('mlmodelscope', { suffix: '' }).config, 'config.yml');
}

export function pluginsFolder(): string {
  return join(dirname(configurationFile(process.env)), 'plugins');
}

/**
 * Sets those of the file's variables that are not set yet: an option wins over the environment, and that over the file.
 * @throws PlatformError `manifest` with the place of the problem, `usage` where the file cannot be read; a missing file
 * is an error only where MLMODELSCOPE_CONFIG names it
 */
export async function applyConfiguration(environment: NodeJS.ProcessEnv): Promise<void> {
  const path = configurationFile(environment);
  const file = await readManifestBytes(path);
  if (!file.ok) {
    if (file.found === 'no such file' && !environment[FILE_VARIABLE]) return;
    throw new PlatformError('usage', `${path}: expected a configuration file, found ${file.found}`);
  }
  // Loaded here, because most users have no such file and this module takes a while to load.
  const { settingsIn } = await import('./configuration-settings.js');
  const settings = settingsIn(path, file.bytes);
  const unset = Object.entries(settings).filter(([variable, value]) => {
    return value !== undefined && !ownValue(environment, variable);
  });
  Object.assign(environment, Object.fromEntries(unset));
}
