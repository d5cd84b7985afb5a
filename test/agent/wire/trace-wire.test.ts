import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LayerTrace } from '../../../src/agent/layer-trace.js';
import {
  fromWireLayerTrace,
  fromWireLevel,
  fromWireSpan,
  toWireLayerTrace,
  toWireLevel,
  toWireSpan,
} from '../../../src/agent/wire/trace-wire.js';
import { LayerTrace as WireLayerTrace, Span } from '../../../src/generated/mlmodelscope/trace/v1/trace.js';
import type { SpanDocument } from '../../../src/tracing/span-document.js';
import { TRACE_LEVELS } from '../../../src/tracing/trace-level.js';
import { sent } from '../support/sent.js';

const trace: LayerTrace = {
  untracedMs: [1, 2],
  tracedMs: [3, 4],
  kernels: [
    {
      sequenceIndex: '7-0-1',
      name: 'a',
      opName: 'Relu',
      executionProvider: 'cpu',
      shape: '[1,2]',
      inputShape: '[1,2];[2]',
      inputTypes: 'float32;int64',
      outputTypes: 'float32',
      elementType: 'float32',
      runMs: [0.5, 0.25],
    },
  ],
  conditions: { wallMs: 5, cores: 2 },
};

function arrived(message: Partial<WireLayerTrace> = {}): LayerTrace {
  return fromWireLayerTrace(sent(WireLayerTrace, { ...toWireLayerTrace(trace), ...message }), 2);
}

test('a trace of layers arrives as it was sent', () => {
  const { kernels, ...rest } = arrived();
  const [kernel] = kernels;
  assert.deepEqual(
    { ...rest, kernels: [{ ...kernel, memory: undefined, pool: undefined }] },
    {
      ...trace,
      kernels: trace.kernels.map((one) => ({ ...one, memory: undefined, pool: undefined })),
    },
  );
});

test('a trace of layers with more times than runs, or with none, is refused', () => {
  for (const wrong of [[], [1, 2, 3], [-1]]) {
    assert.throws(() => arrived({ untracedMs: wrong }), { code: 'usage', message: /^trace\.untracedMs/ });
    assert.throws(() => arrived({ tracedMs: wrong }), { code: 'usage', message: /^trace\.tracedMs/ });
  }
});

test('a level arrives as it was sent, and those below the deepest level of the contract as that one', () => {
  const levels = TRACE_LEVELS.filter((level) => level !== 'NO_TRACE');
  assert.deepEqual(
    levels.map((level) => fromWireLevel(toWireLevel(level))),
    [
      'APPLICATION_TRACE',
      'MODEL_TRACE',
      'FRAMEWORK_TRACE',
      'FRAMEWORK_TRACE',
      ...Array<string>(3).fill('SYSTEM_LIBRARY_TRACE'),
    ],
  );
});

test('a span arrives as it was sent', () => {
  const span: SpanDocument = {
    trace_id: 'a'.repeat(32),
    span_id: 'b'.repeat(16),
    parent_span_id: '',
    name: 'evaluate',
    kind: 'server',
    start_unix_nano: '1700000000000000001',
    end_unix_nano: '1700000000000000002',
    attributes: { op_name: 'Relu', batch_index: 1 },
    status: 'error',
    status_message: 'no',
    resource: { service: 'agent' },
  };
  assert.deepEqual(fromWireSpan(sent(Span, toWireSpan(span))), span);
});
