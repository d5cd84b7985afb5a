import { type Command, Option } from 'commander';
import { storeDescription } from '../../command/store-description.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { SPAN_EXPORTERS, type SpanFormat } from '../../tracing/exporters/index.js';
import { storedTrace } from '../stored-trace.js';
import type { StoreOption } from './store-option.js';

const FORMATS = Object.keys(SPAN_EXPORTERS) as SpanFormat[];

export function registerTraceExport(trace: Command, host: CommandHost): void {
  trace
    .command('export')
    .description(
      "Print a trace in the JSON of Jaeger, OTLP or Chrome (for Perfetto); 'dlbricks import' reads all of them",
    )
    .argument('<id>', 'id of the trace, its first digits, or latest')
    .addOption(new Option('--format <format>', 'output format').choices(FORMATS).default('jaeger'))
    .option('--store <uri>', storeDescription('traces'))
    .addHelpText('after', '\nExample:\n  mlmodelscope trace export latest --format chrome > trace.json')
    .action(async (id: string, { format, store: uri }: StoreOption & { readonly format: SpanFormat }) => {
      const spans = await storedTrace(await host.openStore(uri, { access: 'read' }), id);
      host.print(SPAN_EXPORTERS[format](spans));
    });
}
