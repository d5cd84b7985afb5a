import type { Command } from 'commander';
import { tableText } from '../../command/table-text.js';
import { formatMs } from '../../base/format-ms.js';
import { wholeNumberOption } from '../../base/option-value.js';
import { shortIds } from '../../base/short-ids.js';
import { type Column, filledColumns, left, right } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { disturbanceText } from '../../measurement/disturbance.js';
import type { Measurement } from '../../measurement/measurement.js';
import { type Protocol, protocolDifferences } from '../../measurement/protocol.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import { filteredMeasurements } from '../../store/measurement-filter.js';
import { countAll } from '../../store/system-counts.js';
import { toDocument } from '../document-text.js';
import {
  STORE,
  type StoreOption,
  addSelectionOptions,
  parseFilter,
  isNarrowed,
  type SelectionFlags,
} from './store-option.js';

/** Measurements in a table without --limit. */
const ROWS = 1000;

interface OutputFlags {
  readonly json?: true;
  readonly limit?: number;
}

/** The fields of a row. Keeping the runs too would fill the memory. */
interface Row {
  readonly signature: string;
  readonly system: string;
  readonly protocol: Protocol;
  readonly context: string;
  readonly occasion: string;
  readonly result: string;
  readonly disturbed: string;
  readonly measured: string;
}

function makeRow(measurement: Measurement): Row {
  const { signature, system, protocol, occasion, context, outcome, measuredAt } = measurement;
  return {
    signature,
    system: system.fingerprint,
    protocol,
    context: context === undefined ? '' : `${(context.footprintBytes / 2 ** 20).toFixed(0)} MiB`,
    occasion: String(occasion),
    result: outcome.kind === 'failure' ? outcome.reason : `${formatMs(trimmedMean(outcome.runMs))} ms`,
    disturbed: disturbanceText(measurement),
    measured: measuredAt.slice(0, 16).replace('T', ' '),
  };
}

function columnsFor(rows: readonly Row[]): readonly Column<Row>[] {
  const shortSignature = shortIds(rows.map(({ signature }) => signature));
  const shortSystem = shortIds(rows.map(({ system }) => system));
  const settings = protocolDifferences(rows.map(({ protocol }) => protocol));
  return [
    left('signature', ({ signature }) => shortSignature(signature)),
    left('system', ({ system }) => shortSystem(system)),
    ...filledColumns([left<(typeof rows)[number]>('settings', ({ protocol }) => settings(protocol))], rows),
    right('context', ({ context }) => context),
    right('occasion', ({ occasion }) => occasion),
    right('result', ({ result }) => result),
    right('disturbed', ({ disturbed }) => disturbed),
    left('measured (UTC)', ({ measured }) => measured),
  ];
}

export function registerStoreList(parent: Command, host: CommandHost): void {
  const command = parent
    .command('list')
    .description('List measurements: benchmark, system, result, and disturbance by other processes')
    .option(...STORE)
    .option(
      '--limit <n>',
      `most measurements to list (default: ${ROWS} in a table, all as JSON)`,
      wholeNumberOption(1, 1e9),
    )
    .option('--json', 'as JSON, one measurement a line');
  addSelectionOptions(command)
    .addHelpText(
      'after',
      `
With several options, only measurements that meet all of them are listed. Times
are UTC. The order is that of the store's keys.

Examples:
  mlmodelscope store list --failed
  mlmodelscope store list --disturbed --older-than 7d`,
    )
    .action(async ({ store: uri, json, limit, ...flags }: StoreOption & SelectionFlags & OutputFlags) => {
      const store = await host.openStore(uri, { access: 'read' });
      const most = limit ?? (json === true ? Infinity : ROWS);
      const rows: Row[] = [];
      let listed = 0;
      for await (const measurement of filteredMeasurements(store, parseFilter(flags))) {
        if (listed === most) {
          const total = isNarrowed(flags) ? '' : `of ${countAll(await store.countSystems())} `;
          host.warn(`only the first ${most} ${total}measurements are listed; --limit lists more`);
          break;
        }
        listed += 1;
        if (json === true) host.print(`${JSON.stringify(toDocument('measurement', measurement))}\n`);
        else rows.push(makeRow(measurement));
      }
      if (json === true) return;
      host.print(tableText(columnsFor(rows), rows, ['occasion', 'context', 'disturbed', 'system'], host));
    });
}
