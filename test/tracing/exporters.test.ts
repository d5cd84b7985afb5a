import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SPAN_EXPORTERS } from '../../src/tracing/exporters/index.js';
import { type SpanDocument, spanDocumentSchema } from '../../src/tracing/span-document.js';
import { spanTree, treeLines } from '../../src/tracing/span-tree.js';

const TRACE = 'a'.repeat(32);
const ROOT = '1'.repeat(16);
const CHILD = '2'.repeat(16);

function span(span_id: string, parent_span_id: string, changes: Partial<SpanDocument> = {}): SpanDocument {
  return spanDocumentSchema.parse({
    trace_id: TRACE,
    span_id,
    parent_span_id,
    name: `span ${span_id[0]}`,
    kind: 'internal',
    // Larger than the integers that a double holds exactly.
    start_unix_nano: '1795248325802495552',
    end_unix_nano: '1795248325802672117',
    attributes: {},
    status: 'unset',
    status_message: '',
    resource: { 'service.name': 'tested', 'process.pid': 7 },
    ...changes,
  });
}

describe("a stored trace as Chrome's events", () => {
  interface ChromeEvent {
    readonly ph: string;
    readonly cat?: string;
    readonly name: string;
    readonly pid: number;
    readonly tid?: number;
    readonly ts?: number;
    readonly dur?: number;
    readonly args: Readonly<Record<string, unknown>>;
  }
  const eventsOf = (spans: readonly SpanDocument[]): readonly ChromeEvent[] =>
    (JSON.parse(SPAN_EXPORTERS.chrome(spans)) as { readonly traceEvents: readonly ChromeEvent[] }).traceEvents;
  const timed = (id: string, startUs: number, endUs: number, changes: Partial<SpanDocument> = {}): SpanDocument => {
    const at = (us: number): string => `${1_795_248_325_802_495_552n + BigInt(us) * 1000n}`;
    return span(id.repeat(16), '', { start_unix_nano: at(startUs), end_unix_nano: at(endUs), ...changes });
  };

  test('has category, thread and time of every event, as some readers require', () => {
    const events = eventsOf([span(ROOT, ''), span(CHILD, ROOT)]);
    assert.equal(events.length, 3);
    for (const { cat, tid, ts } of events) {
      assert.deepEqual([typeof cat, typeof tid, typeof ts], ['string', 'number', 'number']);
    }
  });

  test('has each span with its times in microseconds, its attributes and ids', () => {
    const [process, event] = eventsOf([
      span(CHILD, ROOT, { attributes: { op_name: 'Conv' }, status: 'error', status_message: 'broken' }),
    ]);
    assert.deepEqual(process, {
      ph: 'M',
      cat: '__metadata',
      name: 'process_name',
      pid: 1,
      tid: 0,
      ts: 0,
      args: { 'service.name': 'tested', 'process.pid': 7, name: 'tested' },
    });
    assert.deepEqual([event?.ph, event?.ts, event?.dur], ['X', 0, 176.565]);
    const ids = { trace_id: TRACE, span_id: CHILD, parent_span_id: ROOT };
    assert.deepEqual(event?.args, { op_name: 'Conv', error: 'broken', ...ids });
  });

  test('has spans on one thread if they follow or contain each other, else on several', () => {
    const spans = [timed('1', 0, 10), timed('2', 0, 4), timed('3', 4, 10), timed('4', 5, 12), timed('5', 12, 13)];
    const threads = eventsOf(spans).flatMap(({ ph, tid }) => (ph === 'X' ? [tid] : []));
    assert.deepEqual(threads, [1, 1, 1, 2, 1]);
  });

  test('has a process for each process that made spans', () => {
    const other = { 'service.name': 'agent' };
    const pids = eventsOf([timed('1', 0, 10), timed('2', 1, 2, { resource: other })]).map(
      ({ ph, pid }) => `${ph} ${pid}`,
    );
    assert.deepEqual(pids, ['M 1', 'X 1', 'M 2', 'X 2']);
  });
});

describe('a stored trace', () => {
  const spans = [
    span(ROOT, ''),
    span(CHILD, ROOT, {
      attributes: { layer_sequence_index: '3', batch_size: 8, share: 0.5, ok: true },
      status: 'error',
      status_message: 'broken',
    }),
  ];

  test("is written as Jaeger's query service writes it, in microseconds", () => {
    const { data } = JSON.parse(SPAN_EXPORTERS.jaeger(spans)) as { readonly data: readonly Record<string, unknown>[] };
    assert.deepEqual(data[0]?.['processes'], {
      p1: { serviceName: 'tested', tags: [{ key: 'process.pid', type: 'int64', value: 7 }] },
    });
    const [, child] = data[0]?.['spans'] as readonly Record<string, unknown>[];
    assert.deepEqual(child, {
      traceID: TRACE,
      spanID: CHILD,
      operationName: 'span 2',
      references: [{ refType: 'CHILD_OF', traceID: TRACE, spanID: ROOT }],
      startTime: 1_795_248_325_802_496,
      duration: 177,
      tags: [
        { key: 'layer_sequence_index', type: 'string', value: '3' },
        { key: 'batch_size', type: 'int64', value: 8 },
        { key: 'share', type: 'float64', value: 0.5 },
        { key: 'ok', type: 'bool', value: true },
        { key: 'span.kind', type: 'string', value: 'internal' },
        { key: 'error', type: 'bool', value: true },
        { key: 'otel.status_code', type: 'string', value: 'ERROR' },
        { key: 'otel.status_description', type: 'string', value: 'broken' },
      ],
      logs: [],
      processID: 'p1',
      warnings: null,
    });
  });

  test('is written as OTLP, with exact nanoseconds', () => {
    const { resourceSpans } = JSON.parse(SPAN_EXPORTERS.otlp(spans)) as {
      readonly resourceSpans: readonly Record<string, unknown>[];
    };
    assert.equal(resourceSpans.length, 1);
    const [scope] = resourceSpans[0]?.['scopeSpans'] as readonly {
      readonly spans: readonly Record<string, unknown>[];
    }[];
    const [root, child] = scope?.spans ?? [];
    assert.equal(root?.['parentSpanId'], undefined);
    assert.equal(child?.['startTimeUnixNano'], '1795248325802495552');
    assert.equal(child?.['kind'], 1);
    assert.deepEqual(child?.['status'], { code: 2, message: 'broken' });
    assert.deepEqual(child?.['attributes'], [
      { key: 'layer_sequence_index', value: { stringValue: '3' } },
      { key: 'batch_size', value: { intValue: '8' } },
      { key: 'share', value: { doubleValue: 0.5 } },
      { key: 'ok', value: { boolValue: true } },
    ]);
  });

  test('is shown as a tree, with orphans listed separately and many equal spans summed up', () => {
    const more = Array.from({ length: 6 }, (_, i) =>
      span(`${i}`.repeat(16).replace(/^./, 'f'), CHILD, { name: 'c_predict' }),
    );
    const orphan = span('e'.repeat(16), 'd'.repeat(16));
    const lines = treeLines(spanTree([...more, orphan, ...spans]));

    assert.deepEqual(lines, [
      '0.177 ms  span 1  (tested 7)',
      '  0.177 ms  span 2  failed: broken',
      ...Array<string>(3).fill('    0.177 ms  c_predict'),
      '    0.530 ms  3 more of c_predict',
      'spans whose parent is not in the store:',
      '  0.177 ms  span e  (tested 7)',
    ]);
  });
});
