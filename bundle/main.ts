// Joins the compiled modules of dist into the few files of lib. A command needs some 700 modules, and Node takes longer
// to load them than most commands to do their work.
import { build, type Plugin } from 'esbuild';
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = join(import.meta.dirname, '../..');
const COMPILED = join(PROJECT, 'dist');
const JOINED = join(PROJECT, 'lib');

/** All files of src are in one folder, as deep as the folders of dist/src: paths to other files stay true. */
const FOLDER = 'src/bin';

/** Threads, processes and hooks, which the module beside them loads by their path. */
const BY_PATH = /(?:new URL|register)\('\.\/([\w-]+\.js)'/g;

/** Packages of many modules. All others stay where they are, because they have files of their own, or are few files. */
const joinPackages: Plugin = {
  name: 'join-packages',
  setup(builder) {
    builder.onResolve({ filter: /^(zod|@bufbuild\/protobuf)(\/|$)/ }, ({ path }) => ({
      path: fileURLToPath(import.meta.resolve(path)),
    }));
  },
};

async function listModules(folder: string): Promise<readonly string[]> {
  const files = await readdir(join(COMPILED, folder), { recursive: true });
  return files.filter((file) => file.endsWith('.js')).map((file) => join(COMPILED, folder, file));
}

async function findLoadedByPath(modules: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const module of modules) {
    for (const [, name = ''] of (await readFile(module, 'utf8')).matchAll(BY_PATH))
      found.add(join(dirname(module), name));
  }
  return [...found];
}

/** The worker process shares no module with other entries. Joined by itself, it is in a fifth of the files. */
const WORKER = `${FOLDER}/worker`;

/** Each entry by its name in lib, without the extension. */
async function listEntries(): Promise<ReadonlyMap<string, string>> {
  const entries = new Map<string, string>();
  const add = (name: string, file: string): void => {
    const other = entries.get(name);
    if (other !== undefined) throw new Error(`${file} and ${other} would both be ${name}.js of lib; rename one`);
    entries.set(name, file);
  };
  for (const name of ['plugin-api', 'client-api']) add(`src/${name}`, join(COMPILED, `src/${name}.js`));
  for (const name of await readdir(join(COMPILED, 'plugins'))) {
    add(`plugins/${name}/index`, join(COMPILED, 'plugins', name, 'index.js'));
  }
  const modules = [...(await listModules('src')), ...(await listModules('plugins'))];
  for (const file of await findLoadedByPath(modules)) add(`${FOLDER}/${basename(file, '.js')}`, file);
  return entries;
}

const entries = await listEntries();
await rm(JOINED, { recursive: true, force: true });
for (const isWorker of [false, true]) {
  await build({
    entryPoints: Object.fromEntries([...entries].filter(([name]) => (name === WORKER) === isWorker)),
    outdir: JOINED,
    chunkNames: `${FOLDER}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    plugins: [joinPackages],
  });
}
console.log(`lib: ${(await readdir(JOINED, { recursive: true })).filter((file) => file.endsWith('.js')).length} files`);
