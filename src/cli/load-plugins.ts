import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { messageOf, PlatformError } from '../base/errors.js';
import type { Plugin } from '../evaluation/plugin.js';

/** Built beside src: dist/plugins. */
const PLUGINS_FOLDER = new URL('../../plugins/', import.meta.url);

/**
 * Imports every plugin that was built with the platform, in alphabetical order.
 * @throws PlatformError `internal` naming the plugin that does not load
 */
export async function loadPlugins(): Promise<readonly Plugin[]> {
  const entries = await readdir(fileURLToPath(PLUGINS_FOLDER), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name) => {
      try {
        const module = (await import(new URL(`${name}/index.js`, PLUGINS_FOLDER).href)) as { default: Plugin };
        return module.default;
      } catch (error) {
        throw new PlatformError(
          'internal',
          `plugin ${name} does not load: ${messageOf(error)}; build again with make build`,
          {
            cause: error,
          },
        );
      }
    }),
  );
}
