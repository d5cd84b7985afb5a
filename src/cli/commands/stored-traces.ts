import { type Command, Option } from 'commander';
import { counted } from '../../base/counted.js';
import { addTableOptions, type OutputOptions } from '../../command/options.js';
import { storeDescription } from '../../command/store-description.js';
import { prepareOutputs, writeShown } from '../../command/outputs.js';
import { tableText } from '../../command/table-text.js';
import type { ShownResult } from '../../evaluation/evaluation.js';
import { rangeChart } from '../../web/charts.js';
import { shortIds } from '../../base/short-ids.js';
import type { Markup } from '../../base/markup.js';
import { type AlignedTable, type Column, textTable, left, right } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { spanDurationMs, type SpanDocument } from '../../tracing/span-document.js';
import { type SpanLine, spanLines, spanTree, treeLines } from '../../tracing/span-tree.js';
import { SPAN_EXPORTERS, type SpanFormat } from '../../tracing/exporters/index.js';
import { storedRoots, storedTrace } from '../stored-trace.js';
import type { StoreOption } from './store-option.js';

function describeSpan({ name, attributes }: SpanDocument): string {
  const model = attributes['model_name'];
  return model === undefined ? name : `${name} ${String(model)}`;
}

/** Deeper spans are in the table of a page, but not in its timeline. */
const DRAWN_DEPTH = 2;

function startMs(span: SpanDocument, first: SpanDocument): number {
  return Number(BigInt(span.start_unix_nano) - BigInt(first.start_unix_nano)) / 1e6;
}

function columnsFor(roots: readonly SpanDocument[]): readonly Column<SpanDocument>[] {
  const short = shortIds(roots.map(({ trace_id: id }) => id));
  return [
    left('what', describeSpan),
    left('trace', ({ trace_id: id }) => short(id)),
    left('started (UTC)', ({ start_unix_nano: nano }) =>
      new Date(Number(BigInt(nano) / 1_000_000n)).toISOString().slice(0, 19),
    ),
    right('seconds', (root) => (spanDurationMs(root) / 1000).toFixed(3)),
  ];
}

function columnsOfSpans(first: SpanDocument): readonly Column<SpanLine>[] {
  return [
    left('span', ({ span, depth }) => `${'\u2003'.repeat(depth)}${describeSpan(span)}`),
    right('start (ms)', ({ span }) => startMs(span, first).toFixed(3)),
    right('duration (ms)', ({ span }) => spanDurationMs(span).toFixed(3)),
    left('status', ({ span }) => (span.status === 'error' ? span.status_message : span.status)),
  ];
}

function shownTrace(spans: readonly SpanDocument[]): ShownResult {
  const tree = spanTree(spans);
  const lines = spanLines(tree);
  const [first] = spans;
  const table = (): AlignedTable => textTable(first === undefined ? [] : columnsOfSpans(first), lines);
  const id = first?.trace_id ?? '';
  const failed = spans.filter(({ status }) => status === 'error').length;
  const timeline = (): Markup | undefined => {
    const ranges = lines.flatMap(({ span, depth }) => {
      if (first === undefined || depth > DRAWN_DEPTH) return [];
      const start = startMs(span, first);
      const duration = spanDurationMs(span);
      const name = `${'\u2003'.repeat(depth)}${describeSpan(span)}`;
      return [{ name, value: start, low: start, high: start + duration, text: `${duration.toFixed(3)} ms` }];
    });
    return rangeChart({
      unit: 'ms since the start of the trace',
      words: { value: 'start', interval: 'duration' },
      ranges,
    });
  };
  return {
    result: () => ({
      document: spans,
      records: {
        keys: ['span_id', 'parent_span_id', 'name', 'start_unix_nano', 'duration_ms', 'status'],
        rows: spans.map((span) => [
          ...[span.span_id, span.parent_span_id, span.name, span.start_unix_nano],
          ...[spanDurationMs(span), span.status],
        ]),
      },
      table: table(),
      notes: [`trace: ${id}`],
    }),
    page: () => ({
      title: `Trace of ${tree.roots.map(({ span }) => describeSpan(span)).join(', ') || id}`,
      verdict: `${counted(spans.length, 'span')}; failed: ${failed}.`,
      sections: [
        { title: 'Timeline', lead: 'The outer spans. Indented spans are parts of the one above.', chart: timeline() },
        { title: 'Spans', table: table() },
      ],
    }),
    text: () => `trace ${id}\n${treeLines(tree).join('\n')}\n`,
  };
}

export function registerStoredTraces(trace: Command, host: CommandHost): void {
  trace
    .command('list')
    .description('List the traces in the store, the newest first')
    .option('--store <uri>', storeDescription('traces'))
    .addHelpText('after', '\nExample:\n  mlmodelscope trace list')
    .action(async ({ store: uri }: StoreOption) => {
      const roots = await storedRoots(await host.openStore(uri, { access: 'read' }));
      host.print(tableText(columnsFor(roots), roots, ['started (UTC)'], host));
    });
  addTableOptions(trace.command('show'), 'span')
    .description('Show a trace as a tree: duration, name and attributes of each span')
    .argument('<id>', 'id of the trace, its first digits, or latest')
    .option('--store <uri>', storeDescription('traces'))
    .addHelpText(
      'after',
      '\nExamples:\n  mlmodelscope trace show latest\n  mlmodelscope trace show latest --export-html trace.html',
    )
    .action(async (id: string, { store: uri, ...options }: OutputOptions & StoreOption) => {
      const outputs = await prepareOutputs(options);
      const spans = await storedTrace(await host.openStore(uri, { access: 'read' }), id);
      await writeShown(shownTrace(spans), outputs, host);
    });
  trace
    .command('export')
    .description(
      "Print a trace in the JSON of Jaeger, OTLP or Chrome (for Perfetto); 'dlbricks import' reads all of them",
    )
    .argument('<id>', 'id of the trace, its first digits, or latest')
    .addOption(new Option('--format <format>', 'output format').choices(Object.keys(SPAN_EXPORTERS)).default('jaeger'))
    .option('--store <uri>', storeDescription('traces'))
    .addHelpText('after', '\nExample:\n  mlmodelscope trace export latest --format chrome > trace.json')
    .action(async (id: string, { format, store: uri }: StoreOption & { readonly format: SpanFormat }) => {
      const spans = await storedTrace(await host.openStore(uri, { access: 'read' }), id);
      host.print(SPAN_EXPORTERS[format](spans));
    });
}
