import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import type { CollectionShape } from '../../store/collection.js';
import { filteredKeys, filteredMeasurements, type MeasurementFilter } from '../../store/measurement-filter.js';
import type { ResultStore } from '../../store/result-store.js';
import { defineAnyDocument } from '../../store/transfer-record.js';
import {
  STORE,
  type StoreOption,
  addSelectionOptions,
  parseFilter,
  idPrefix,
  isNarrowed,
  type SelectionFlags,
} from './store-option.js';

interface DeletingFlags extends StoreOption {
  readonly dryRun?: boolean;
}

const DRY_RUN = ['--dry-run', 'only say what would be deleted'] as const;

async function openToDelete(host: CommandHost, uri: string | undefined, dryRun: boolean): Promise<ResultStore> {
  const store = await host.openStore(uri, { access: 'read' });
  return dryRun || store.isReadOnly !== true ? store : host.openStore(uri);
}

async function deleteMeant(store: ResultStore, filter: MeasurementFilter, dryRun: boolean): Promise<string> {
  const keys = await filteredKeys(store, filter);
  if (dryRun) return `would delete ${counted(keys.length, 'measurement')}`;
  return `deleted ${counted(await store.deleteMeasurements(keys), 'measurement')}`;
}

/** @throws PlatformError `not_found`, before anything is deleted, where no signature or system begins with an id */
async function requireFound(store: ResultStore, ids: readonly string[]): Promise<void> {
  const left = new Set(ids);
  for await (const { signature, system } of filteredMeasurements(store, { ids })) {
    for (const id of left) if (signature.startsWith(id) || system.fingerprint.startsWith(id)) left.delete(id);
    if (left.size === 0) return;
  }
  const missing = [...left].join(' and ');
  throw new PlatformError(
    'not_found',
    `no measurement and no system begins with ${missing}; \`mlmodelscope store list\` shows them`,
  );
}

/** @throws PlatformError `not_found` that lists the kinds in the store */
async function findShape(store: ResultStore, name: string): Promise<CollectionShape> {
  const shapes = await store.listCollections();
  const shape = shapes.find((candidate) => candidate.name === name);
  if (shape !== undefined) return shape;
  const known = shapes.map((candidate) => candidate.name).join(', ') || 'none';
  throw new PlatformError('not_found', `the store has no documents called ${name}; there are: ${known}`);
}

async function deleteDocuments(store: ResultStore, name: string, dryRun: boolean): Promise<string> {
  const documents = store.collection(defineAnyDocument(await findShape(store, name)));
  if (dryRun) return `would delete ${counted(await documents.count(), 'document')} of ${name}`;
  return `deleted ${counted(await documents.delete({}), 'document')} of ${name}`;
}

export function registerStorePrune(parent: Command, host: CommandHost): void {
  const command = parent
    .command('prune')
    .description('Delete measurements that meet all given conditions; at least one is needed')
    .option(...STORE)
    .option(...DRY_RUN);
  addSelectionOptions(command)
    .addHelpText(
      'after',
      `
A deleted benchmark is measured again when it is needed. 'store list' with the
same conditions shows the measurements first.

Examples:
  mlmodelscope store prune --disturbed --dry-run
  mlmodelscope store prune --failed --older-than 30d`,
    )
    .action(async ({ store: uri, dryRun = false, ...flags }: DeletingFlags & SelectionFlags) => {
      if (!isNarrowed(flags)) {
        const conditions = '--system, --failed, --disturbed or --older-than';
        throw new PlatformError('usage', `expected at least one condition: ${conditions}`);
      }
      const store = await openToDelete(host, uri, dryRun);
      host.print(`${await deleteMeant(store, parseFilter(flags), dryRun)}\n`);
    });
}

export function registerStoreDelete(parent: Command, host: CommandHost): void {
  parent
    .command('delete')
    .description('Delete the measurements of bricks, models or systems, or all documents of one kind')
    .argument(
      '[id...]',
      'first digits of signatures or of systems; all matching measurements are deleted',
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), idPrefix(text)],
    )
    .option(...STORE)
    .option('--documents <name>', "documents of this kind, as 'store info' names them; spans are those of traces")
    .option(...DRY_RUN)
    .addHelpText(
      'after',
      `
Examples:
  mlmodelscope store delete 4d7170fa9f7d --dry-run
  mlmodelscope store delete --documents spans`,
    )
    .action(async (ids: readonly string[], flags: DeletingFlags & { readonly documents?: string }) => {
      const { store: uri, documents, dryRun = false } = flags;
      if ((ids.length === 0) === (documents === undefined)) {
        throw new PlatformError('usage', "expected either ids, as in 'store list', or --documents NAME");
      }
      const store = await openToDelete(host, uri, dryRun);
      if (ids.length > 0) {
        await requireFound(store, ids);
        host.print(`${await deleteMeant(store, { ids }, dryRun)}\n`);
      }
      if (documents !== undefined) host.print(`${await deleteDocuments(store, documents, dryRun)}\n`);
    });
}
