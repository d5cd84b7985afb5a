import type { Command } from 'commander';
import { storeDescription } from '../../command/options.js';
import { fittingTable } from '../../base/fitting-table.js';
import { shortIds } from '../../base/short-ids.js';
import type { Column } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { spanDurationMs, type SpanDocument } from '../../tracing/span-document.js';
import { spanTree, treeLines } from '../../tracing/span-tree.js';
import { storedRoots, storedTrace } from '../stored-trace.js';

function whatOf({ name, attributes }: SpanDocument): string {
  const model = attributes['model_name'];
  return model === undefined ? name : `${name} ${String(model)}`;
}

function columnsFor(roots: readonly SpanDocument[]): readonly Column<SpanDocument>[] {
  const short = shortIds(roots.map(({ trace_id: id }) => id));
  return [
    { title: 'what', align: 'left', cell: whatOf },
    { title: 'trace', align: 'left', cell: ({ trace_id: id }) => short(id) },
    {
      title: 'started (UTC)',
      align: 'left',
      cell: ({ start_unix_nano: nano }) => new Date(Number(BigInt(nano) / 1_000_000n)).toISOString().slice(0, 19),
    },
    { title: 'seconds', align: 'right', cell: (root) => (spanDurationMs(root) / 1000).toFixed(3) },
  ];
}

export function registerTraceShow(trace: Command, host: CommandHost): void {
  trace
    .command('list')
    .description('List the traces in the store, the newest first')
    .option('--store <uri>', storeDescription('traces'))
    .addHelpText('after', '\nExample:\n  mlmodelscope trace list')
    .action(async ({ store: uri }: { store?: string }) => {
      const roots = await storedRoots(await host.openStore(uri, { access: 'read' }));
      const fitting = { width: host.columns?.out, dispensable: ['started (UTC)'] };
      host.print(`${fittingTable(columnsFor(roots), roots, fitting).text}\n`);
    });
  trace
    .command('show')
    .description('Show a trace as a tree: duration, name and attributes of each span')
    .argument('<id>', 'id of the trace, its first digits, or latest')
    .option('--store <uri>', storeDescription('traces'))
    .addHelpText('after', '\nExample:\n  mlmodelscope trace show latest')
    .action(async (id: string, { store: uri }: { store?: string }) => {
      const spans = await storedTrace(await host.openStore(uri, { access: 'read' }), id);
      host.print(`trace ${spans[0]?.trace_id}\n${treeLines(spanTree(spans)).join('\n')}\n`);
    });
}
