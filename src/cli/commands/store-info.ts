import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { oneLine } from '../../base/one-line.js';
import { tableText } from '../../command/table-text.js';
import { shortIds } from '../../base/short-ids.js';
import { type Column, filledColumns, left, right } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { systemDifferences } from '../../measurement/system-differences.js';
import { defineAnyDocument } from '../../store/transfer-record.js';
import { storeAddress } from '../../store/open-store.js';
import type { ResultStore } from '../../store/result-store.js';
import { documentText } from '../document-text.js';
import { type SystemCounts, countAll } from '../../store/system-counts.js';
import { STORE, type StoreOption } from './store-option.js';

async function countCollections(store: ResultStore): Promise<readonly { name: string; documents: number }[]> {
  const counts: { name: string; documents: number }[] = [];
  for (const shape of await store.listCollections()) {
    counts.push({ name: shape.name, documents: await store.collection(defineAnyDocument(shape)).count() });
  }
  return counts;
}

function columnsFor(systems: readonly SystemCounts[]): readonly Column<SystemCounts>[] {
  const short = shortIds(systems.map(({ system }) => system.fingerprint));
  const listed = systems.map(({ system }) => system);
  const settings = systemDifferences(listed, ['processor', 'threads', 'framework']);
  return [
    left('processor', ({ system }) => system.processor),
    left('system', ({ system }) => short(system.fingerprint)),
    right('threads', ({ system }) => String(system.runOptions.threads)),
    left('framework', ({ system }) => `${system.framework} ${system.frameworkVersion}`),
    ...filledColumns([left<(typeof systems)[number]>('settings', ({ system }) => settings(system))], systems),
    right('measurements', ({ measurements }) => String(measurements)),
    right('failed', ({ failed }) => String(failed)),
    right('disturbed', ({ disturbed }) => String(disturbed)),
    left('newest', ({ newest }) => newest.slice(0, 10)),
  ];
}

export function registerStoreInfo(parent: Command, host: CommandHost): void {
  parent
    .command('info')
    .description('Show where a store is, and how many measurements and other documents it holds')
    .option(...STORE)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope store info')
    .action(async ({ store: uri, json }: StoreOption & { readonly json?: true }) => {
      const store = await host.openStore(uri, { access: 'read' });
      const systems = await store.countSystems((message) => host.warn(message));
      const collections = await countCollections(store);
      const place = await storeAddress(uri);
      if (json === true) {
        const listed = systems.map((counts) => ({ fingerprint: counts.system.fingerprint, ...counts }));
        host.print(documentText('store', { store: place, systems: listed, collections: [...collections] }));
        return;
      }
      const others = collections.map(({ name, documents }) => `${name}: ${documents}`).join(', ') || 'none';
      const dispensable = ['newest', 'failed', 'disturbed', 'framework'];
      const table = systems.length === 0 ? '' : tableText(columnsFor(systems), systems, dispensable, host);
      host.print(
        `store: ${oneLine(place)}\nmeasurements: ${countAll(systems)}, of ${counted(systems.length, 'system')}\n${table}other documents: ${others}\n`,
      );
    });
}
