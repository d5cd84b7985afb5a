import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { isFolder } from '../../base/is-folder.js';
import { wholeNumberOption } from '../../base/option-value.js';
import { addQuietOption } from '../../command/options.js';
import type { Progress } from '../../evaluation/plugin.js';
import type { FetchRules } from '../../fetch/fetch-model.js';
import { isPublicAddress } from '../../http/public-address.js';
import type { ModelManifest } from '../../manifest/model.js';
import { orThrow } from '../../manifest/problem.js';
import { referredManifests } from '../../manifest/resolve-evaluation.js';
import { kindOfManifest, loadManifest } from '../../manifest/load.js';
import { besideManifest } from '../../manifest/reference.js';
import { problemsLine, readFolder } from '../../registry/model-folder.js';
import type { OwnedHost } from '../host.js';

const DEFAULT_MAX_GIB = 8;
const DEFAULT_MAX_MINUTES = 60;

interface FetchFlags {
  readonly mirror?: string;
  readonly allowHttp?: true;
  readonly allowPrivateUrls?: true;
  readonly maxGib: number;
  readonly maxMinutes: number;
  readonly quiet?: true;
}

/** A manifest of a folder that has problems is reported and left out, and so are those beyond the folder's limit. */
async function loadManifests(
  references: readonly string[],
  onProblem: (line: string) => void,
  onNotRead: (line: string) => void,
  pins: Map<string, ReadonlyMap<string, string>>,
) {
  const manifests: { readonly path: string; readonly manifest: ModelManifest }[] = [];
  for (const reference of references) {
    if ((await kindOfManifest(reference)) === 'evaluation') {
      const referred = await referredManifests(reference);
      pins.set(reference, new Map(referred.map(({ reference: text, sha256 }) => [text, sha256])));
      for (const { kind, path } of referred) {
        if (kind === 'model') manifests.push({ path, manifest: orThrow(await loadManifest(path, ['model'])).manifest });
      }
      continue;
    }
    if (!(await isFolder(reference))) {
      manifests.push({ path: reference, manifest: orThrow(await loadManifest(reference, ['model'])).manifest });
      continue;
    }
    const load = async (path: string) => ({ path, loaded: await loadManifest(path, ['model']) });
    const { read, notRead } = await readFolder(reference, load);
    if (notRead !== undefined) onNotRead(notRead);
    if (read.length === 0) throw new PlatformError('usage', `${reference}: a folder without manifests (.yml)`);
    for (const { path, loaded } of read) {
      if (loaded.ok) manifests.push({ path, manifest: loaded.manifest });
      else onProblem(problemsLine(loaded.problems));
    }
  }
  return manifests;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}

function makeRules(flags: FetchFlags, progress: Progress, signal: AbortSignal): Omit<FetchRules, 'onWarning'> {
  return {
    mirror: flags.mirror,
    allowHttp: flags.allowHttp ?? false,
    isAllowed: flags.allowPrivateUrls === undefined ? isPublicAddress : () => true,
    maxBytes: flags.maxGib * 2 ** 30,
    limitMs: flags.maxMinutes * 60_000,
    signal,
    onProgress: (bytes, total) => {
      const share = total === undefined ? '' : ` of ${megabytes(total)}`;
      progress.within(`${megabytes(bytes)}${share} MB`);
    },
  };
}

async function fetchAll(references: readonly string[], flags: FetchFlags, host: OwnedHost): Promise<void> {
  if (flags.mirror !== undefined && !(await isFolder(flags.mirror))) {
    throw new PlatformError('usage', `--mirror ${flags.mirror}: no such folder`);
  }
  const failures: PlatformError[] = [];
  const progress = host.progress(flags.quiet ?? false);
  const rules = makeRules(flags, progress, host.signal);
  const warn = (line: string): void => host.warn(`warning: ${line}`);
  const onProblem = (line: string): void => {
    warn(line);
    failures.push(new PlatformError('manifest', line));
  };
  const referred = new Map<string, ReadonlyMap<string, string>>();
  const manifests = await loadManifests(references, onProblem, warn, referred);
  const count = manifests.length + failures.length;
  // Loaded here, because other commands need no archives.
  const { fetchModel } = await import('../../fetch/fetch-model.js');
  const { pinManifests } = await import('../../fetch/lock.js');
  for (const [evaluation, pins] of referred) await pinManifests(evaluation, pins);
  const graphs: string[] = [];
  try {
    for (const [done, { path, manifest }] of manifests.entries()) {
      progress.step('fetching', done, manifests.length, manifest.name);
      try {
        await fetchModel(path, manifest, { ...rules, onWarning: (message) => warn(`${path}: ${message}`) });
        const { graph_path: graph } = manifest.model;
        if (graph !== undefined) graphs.push(graph.startsWith('zoo:') ? graph : besideManifest(path, graph));
      } catch (error) {
        if (!(error instanceof PlatformError) || error.code === 'cancelled') throw error;
        const failure = new PlatformError(error.code, `${path}: ${error.message}`, { cause: error });
        if (manifests.length === 1 && failures.length === 0) throw failure;
        host.warn(`warning: ${failure.message}`);
        failures.push(failure);
      }
    }
  } finally {
    progress.stop();
  }
  if (graphs.length > 0) host.print(`${graphs.join('\n')}\n`);
  const [first] = failures;
  if (first === undefined) return;
  throw new PlatformError(
    first.code,
    `files are missing for ${failures.length} of ${counted(count, 'manifest')}; see above`,
  );
}

export function registerModelsCommand(program: Command, host: OwnedHost): void {
  const models = program
    .command('models')
    .description('Get the files of models that manifests name by their addresses')
    .addHelpText('after', '\nExample:\n  mlmodelscope models fetch builtin_models');
  const command = models
    .command('fetch')
    .description("Download the files that model manifests name by their addresses, and print the graphs' paths")
    .argument('<path...>', 'model manifests (.yml), folders of them, or evaluations')
    .option('--mirror <dir>', 'take files from this folder, where it has them by their addresses or names')
    .option('--allow-http', 'also take files over http://')
    .option('--allow-private-urls', 'also take files from this machine and its private network')
    .option(
      '--max-gib <n>',
      'most GiB of one file, or of all files of an archive',
      wholeNumberOption(1, 4096),
      DEFAULT_MAX_GIB,
    )
    .option('--max-minutes <n>', 'most minutes for one file', wholeNumberOption(1, 10_080), DEFAULT_MAX_MINUTES);
  addQuietOption(command)
    .addHelpText(
      'after',
      `
Files go to the folder fetched beside each manifest. The lock file
models-lock.json there gets the SHA-256 of each: a file that is different next
time is refused. Of an evaluation, the manifests that it refers to are pinned
beside it, and every command refuses one that was changed. Commit the lock file.
An interrupted download continues when the same command runs again. No other
command downloads anything.

Examples:
  mlmodelscope models fetch models/resnet50.yml
  mlmodelscope models fetch builtin_models --mirror /data/mirror`,
    )
    .action((references: string[], flags: FetchFlags) => fetchAll(references, flags, host));
}
