import type { Command } from 'commander';
import { drawTable } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { durationMsOf } from '../../tracing/span-document.js';
import { spanTree, treeLines } from '../../tracing/span-tree.js';
import { storedRoots, storedTrace } from '../stored-trace.js';

/** `mlmodelscope trace list` and `trace show ID`. */
export function registerTraceShow(trace: Command, host: CommandHost): void {
  trace
    .command('list')
    .description('List the traces in the store, the newest first')
    .option('--store <uri>', 'where traces are kept')
    .addHelpText('after', '\nExample:\n  mlmodelscope trace list')
    .action(async ({ store: uri }: { store?: string }) => {
      const roots = await storedRoots(await host.openStore(uri, { access: 'read' }));
      const rows = roots.map((root) => {
        const started = new Date(Number(BigInt(root.start_unix_nano) / 1_000_000n)).toISOString();
        const model = root.attributes['model_name'];
        const what = model === undefined ? root.name : `${root.name} ${String(model)}`;
        return [root.trace_id, started, (durationMsOf(root) / 1000).toFixed(3), what];
      });
      host.print(`${drawTable({ titles: ['trace', 'started', 'seconds', 'what'], rows })}\n`);
    });
  trace
    .command('show')
    .description('Show a trace as a tree: duration, name and attributes of each span')
    .argument('<id>', 'id of the trace, its first digits, or latest')
    .option('--store <uri>', 'where traces are kept')
    .addHelpText('after', '\nExample:\n  mlmodelscope trace show latest')
    .action(async (id: string, { store: uri }: { store?: string }) => {
      const spans = await storedTrace(await host.openStore(uri, { access: 'read' }), id);
      host.print(`trace ${spans[0]?.trace_id}\n${treeLines(spanTree(spans)).join('\n')}\n`);
    });
}
