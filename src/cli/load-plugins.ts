import { spawnSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { register } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { describeForeignError, messageOf, PlatformError } from '../base/errors.js';
import { isOutOfFiles } from './failure.js';
import { openRegularFile } from '../base/regular-file.js';
import { schemaProblems } from '../base/schema-problems.js';
import type { Evaluation } from '../evaluation/evaluation.js';
import type { Plugin } from '../evaluation/plugin.js';

/** Built beside src: dist/plugins. */
const BUILT_IN = fileURLToPath(new URL('../../plugins/', import.meta.url));

const INSTALLED = fileURLToPath(new URL('../../../../', import.meta.url));

const PACKAGE = /^mlmodelscope-plugin-/;

/** Far larger than any bundle of JavaScript. */
const MAX_FILE_BYTES = 64 * 2 ** 20;

const CHECK_LIMIT_MS = 10_000;

/** The fields that every plugin has; optional fields are checked where they are used. */
const pluginSchema = z.looseObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, {
    error: ({ input }) => `expected small letters, digits and -, with a letter first, found ${JSON.stringify(input)}`,
  }),
  version: z.string(),
});

export interface LoadPluginsOptions {
  readonly paths: readonly string[];
  readonly folder: string;
  /** Called for each plugin that does not load, with the cause. The other plugins are still loaded. */
  readonly onWarning: (message: string) => void;
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  return names.sort().map((name) => join(folder, name));
}

async function findFile(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() === true ? join(path, 'index.js') : path;
}

/** An import of a pipe or device never ends, and no signal ends it. @throws PlatformError naming what is there */
async function requireModule(file: string): Promise<void> {
  const opened = await openRegularFile(file);
  if (!opened.ok) throw new PlatformError('usage', `expected a file of JavaScript at ${file}, found ${opened.found}`);
  await opened.file.close();
  if (opened.byteLength <= MAX_FILE_BYTES) return;
  const problem = `${file} has ${opened.byteLength} bytes; a plugin's file has at most ${MAX_FILE_BYTES}`;
  throw new PlatformError('usage', problem);
}

const HOOKS = new URL('./resolve-plugin-api.js', import.meta.url).href;

const API = { data: { api: import.meta.resolve('../plugin-api.js') } };

/** The file and line of a syntax error, also in an imported file: Node tells them only of an uncaught error. */
function findSyntaxError(url: string): string | undefined {
  const [hooks, api, plugin] = [HOOKS, API, url].map((value) => JSON.stringify(value)) as [string, string, string];
  const code = `import { register } from 'node:module'; register(${hooks}, ${api}); await import(${plugin});`;
  const options = { encoding: 'utf8', timeout: CHECK_LIMIT_MS } as const;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], options);
  const [found] = /^[^]*?^SyntaxError: .*$/m.exec(stderr) ?? [];
  return found?.replaceAll(/\n+/g, '\n');
}

async function importModule(file: string): Promise<{ readonly default?: unknown }> {
  const url = pathToFileURL(file).href;
  try {
    return (await import(url)) as { default?: unknown };
  } catch (error) {
    const found = error instanceof SyntaxError ? findSyntaxError(url) : undefined;
    throw found === undefined ? error : new PlatformError('usage', found, { cause: error });
  }
}

/** The server needs the schema of settings before it takes an evaluation. @throws PlatformError naming the fault */
function requireRunnable({ settings, run }: Readonly<Partial<Evaluation>>): void {
  if (!(settings instanceof z.ZodType))
    throw new PlatformError('usage', 'its evaluation has settings without a schema');
  if (typeof run !== 'function') throw new PlatformError('usage', 'its evaluation has no function run');
  try {
    z.toJSONSchema(settings, { io: 'input' });
  } catch (error) {
    const problem = `the settings of its evaluation have no JSON Schema (${messageOf(error)})`;
    throw new PlatformError('usage', `${problem}; use only types that JSON has`, { cause: error });
  }
}

async function load(path: string): Promise<Plugin> {
  const file = await findFile(path);
  await requireModule(file);
  const { default: exported } = await importModule(file);
  const result = pluginSchema.safeParse(exported);
  if (!result.success) {
    const problems = schemaProblems(result.error, { whole: 'the export' });
    throw new PlatformError('usage', `its default export is no plugin: ${problems.join('; ')}`);
  }
  const plugin = exported as Plugin;
  if (plugin.evaluation === undefined && !plugin.analyses?.length && plugin.registerCommand === undefined) {
    throw new PlatformError('usage', 'it has no evaluation, no analyses and no registerCommand; give it one of them');
  }
  return plugin;
}

let isApiProvided = false;

/** Has the imports of the plugin API lead to this platform wherever a plugin is, and whatever is installed there. */
function provideApi(): void {
  if (isApiProvided) return;
  isApiProvided = true;
  register(HOOKS, API);
}

/**
 * Plugins built with the platform, named by the user, installed beside the platform as packages called
 * `mlmodelscope-plugin-NAME`, and in the user's folder. One that does not load, or has an earlier one's name, is left
 * out with a warning.
 */
export async function loadPlugins({ paths, folder, onWarning }: LoadPluginsOptions): Promise<readonly Plugin[]> {
  const packages = basename(INSTALLED) === 'node_modules' ? await foldersIn(INSTALLED) : [];
  const foreign: readonly (readonly [string, () => string])[] = [
    ...[...new Map(paths.map((path) => [resolve(path), path]))].map(([file, path]) => [path, () => file] as const),
    ...packages
      .filter((path) => PACKAGE.test(basename(path)))
      .map((path) => [path, () => fileURLToPath(import.meta.resolve(basename(path)))] as const),
    ...(await foldersIn(folder)).map((path) => [path, () => path] as const),
  ];
  if (foreign.length > 0) provideApi();
  const builtIn = (await foldersIn(BUILT_IN)).map((path) => [path, () => path] as const);
  const plugins = new Map<string, { readonly plugin: Plugin; readonly place: string }>();
  for (const source of [...builtIn, ...foreign]) {
    const [place, find] = source;
    try {
      const plugin = await load(find());
      if (plugin.evaluation !== undefined && foreign.includes(source)) requireRunnable(plugin.evaluation);
      const { name } = plugin;
      const used = plugins.get(name);
      if (used !== undefined) {
        const problem = `there is another plugin called ${name}, version ${used.plugin.version} at ${used.place}`;
        throw new PlatformError('usage', `${problem}, which is used; rename or remove one of them`);
      }
      plugins.set(name, { plugin, place });
    } catch (error) {
      if (isOutOfFiles(error)) throw error;
      onWarning(`the plugin at ${place} does not load: ${describeForeignError(error)}`);
    }
  }
  return [...plugins.values()].map(({ plugin }) => plugin);
}

/** The values of `--plugin` on a command line. They are needed before Commander knows the commands. */
export function pluginPaths(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.flatMap((word, index) => {
    if (word === '--plugin') return words[index + 1] ?? [];
    return word.startsWith('--plugin=') ? word.slice('--plugin='.length) : [];
  });
}
