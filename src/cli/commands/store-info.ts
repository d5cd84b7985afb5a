import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { oneLine } from '../../base/one-line.js';
import { fittingTable } from '../../base/fitting-table.js';
import { shortIds } from '../../base/short-ids.js';
import type { Column } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { isDisturbed } from '../../measurement/disturbance.js';
import type { System } from '../../measurement/system.js';
import { systemDifferences } from '../../measurement/system-differences.js';
import { countDocuments } from '../../store/count-documents.js';
import { placeOfStore } from '../../store/open-store.js';
import type { ResultStore } from '../../store/result-store.js';
import { documentText } from '../json-documents.js';
import { STORE, type StoreOption } from './store-option.js';

/** Counts and dates of the measurements of one system. */
interface SystemCounts {
  readonly system: System;
  measurements: number;
  failed: number;
  disturbed: number;
  oldest: string;
  newest: string;
}

async function countSystems(store: ResultStore): Promise<readonly SystemCounts[]> {
  const counts = new Map<string, SystemCounts>();
  for await (const measurement of store.listMeasurements()) {
    const { system, outcome, measuredAt } = measurement;
    const known = counts.get(system.fingerprint) ?? {
      system,
      measurements: 0,
      failed: 0,
      disturbed: 0,
      oldest: measuredAt,
      newest: measuredAt,
    };
    known.measurements += 1;
    if (outcome.kind === 'failure') known.failed += 1;
    if (isDisturbed(measurement)) known.disturbed += 1;
    if (measuredAt < known.oldest) known.oldest = measuredAt;
    if (measuredAt > known.newest) known.newest = measuredAt;
    counts.set(system.fingerprint, known);
  }
  return [...counts.values()];
}

async function countCollections(store: ResultStore): Promise<readonly { name: string; documents: number }[]> {
  const counts: { name: string; documents: number }[] = [];
  for (const shape of await store.listCollections()) {
    counts.push({ name: shape.name, documents: await countDocuments(store, shape) });
  }
  return counts;
}

function columnsFor(systems: readonly SystemCounts[]): readonly Column<SystemCounts>[] {
  const short = shortIds(systems.map(({ system }) => system.fingerprint));
  const listed = systems.map(({ system }) => system);
  const settings = systemDifferences(listed, ['processor', 'threads', 'framework']);
  const differ = listed.some((system) => settings(system) !== '');
  return [
    { title: 'processor', align: 'left', cell: ({ system }) => system.processor },
    { title: 'system', align: 'left', cell: ({ system }) => short(system.fingerprint) },
    { title: 'threads', align: 'right', cell: ({ system }) => String(system.runOptions.threads) },
    { title: 'framework', align: 'left', cell: ({ system }) => `${system.framework} ${system.frameworkVersion}` },
    ...(differ
      ? [{ title: 'settings', align: 'left', cell: ({ system }: SystemCounts) => settings(system) } as const]
      : []),
    { title: 'measurements', align: 'right', cell: ({ measurements }) => String(measurements) },
    { title: 'failed', align: 'right', cell: ({ failed }) => String(failed) },
    { title: 'disturbed', align: 'right', cell: ({ disturbed }) => String(disturbed) },
    { title: 'newest', align: 'left', cell: ({ newest }) => newest.slice(0, 10) },
  ];
}

/** `mlmodelscope store info`: the number of measurements of each system, and of other documents. */
export function registerStoreInfo(parent: Command, host: CommandHost): void {
  parent
    .command('info')
    .description('Show where a store is, and how many measurements and other documents it holds')
    .option(...STORE)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope store info')
    .action(async ({ store: uri, json }: StoreOption & { readonly json?: true }) => {
      const store = await host.openStore(uri, { access: 'read' });
      const systems = await countSystems(store);
      const collections = await countCollections(store);
      const place = await placeOfStore(uri);
      if (json === true) {
        const listed = systems.map(({ system, ...counts }) => ({
          fingerprint: system.fingerprint,
          system,
          ...counts,
        }));
        host.print(documentText('store', { store: place, systems: listed, collections: [...collections] }));
        return;
      }
      const total = systems.reduce((sum, { measurements }) => sum + measurements, 0);
      const others = collections.map(({ name, documents }) => `${name}: ${documents}`).join(', ') || 'none';
      const fitting = { width: host.columns?.out, dispensable: ['newest', 'failed', 'disturbed', 'framework'] };
      const table = systems.length === 0 ? '' : `${fittingTable(columnsFor(systems), systems, fitting).text}\n`;
      host.print(
        `store: ${oneLine(place)}\nmeasurements: ${total}, of ${counted(systems.length, 'system')}\n${table}other documents: ${others}\n`,
      );
    });
}
