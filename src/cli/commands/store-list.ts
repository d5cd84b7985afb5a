import type { Command } from 'commander';
import { drawTable } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { disturbanceOf } from '../../measurement/disturbance.js';
import type { Measurement } from '../../measurement/measurement.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import { filteredMeasurements } from '../../store/measurement-filter.js';
import { documentOf } from '../json-documents.js';
import { STORE, type StoreOption } from './store-option.js';
import { addSelectionOptions, filterOf, type SelectionFlags } from './store-selection.js';

function cellsOf(measurement: Measurement): readonly string[] {
  const { signature, system, occasion, context, outcome, measuredAt } = measurement;
  return [
    signature.slice(0, 12),
    system.fingerprint.slice(0, 12),
    context === undefined ? '' : `${(context.footprintBytes / 2 ** 20).toFixed(0)} MiB`,
    String(occasion),
    outcome.kind === 'failure' ? outcome.reason : `${trimmedMean(outcome.runMs).toPrecision(4)} ms`,
    `${(disturbanceOf(measurement) * 100).toFixed(0)} %`,
    `${measuredAt.slice(0, 16).replace('T', ' ')}`,
  ];
}

/** `mlmodelscope store list`: each measurement in a line. */
export function registerStoreList(parent: Command, host: CommandHost): void {
  const command = parent
    .command('list')
    .description('List measurements: of what, on which system, with which result, and what others took meanwhile')
    .option(...STORE)
    .option('--json', 'as JSON, one measurement a line');
  addSelectionOptions(command)
    .addHelpText(
      'after',
      `
Several options together mean measurements that meet all of them. Times are UTC.

Examples:
  mlmodelscope store list --failed
  mlmodelscope store list --disturbed --older-than 7d`,
    )
    .action(async ({ store: uri, json, ...flags }: StoreOption & SelectionFlags & { readonly json?: true }) => {
      const store = await host.openStore(uri, { access: 'read' });
      const rows: (readonly string[])[] = [];
      for await (const measurement of filteredMeasurements(store, filterOf(flags))) {
        if (json === true) host.print(`${JSON.stringify(documentOf('measurement', measurement))}\n`);
        else rows.push(cellsOf(measurement));
      }
      if (json === true) return;
      const titles = ['signature', 'system', 'context', 'occasion', 'result', 'others', 'measured'];
      const aligns = ['left', 'left', 'right', 'right', 'right', 'right', 'left'] as const;
      host.print(`${drawTable({ titles, aligns, rows })}\n`);
    });
}
