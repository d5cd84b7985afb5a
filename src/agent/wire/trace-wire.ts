import * as wire from '../../generated/mlmodelscope/trace/v1/trace.js';
import { withSnakeKeys } from '../../base/snake-case.js';
import { check } from '../../rpc/check-message.js';
import { type SpanDocument, spanDocumentSchema } from '../../tracing/span-document.js';
import { includesLevel, type TraceLevel } from '../../tracing/trace-level.js';
import { type LayerTrace, layerTraceSchema } from '../layer-trace.js';
import { fromWireConditions, toWireConditions } from './benchmark-wire.js';

/** SYSTEM_LIBRARY is the deepest level of this contract: no process here reads the counters of hardware. */
export function toWireLevel(level: TraceLevel): wire.TraceLevel {
  if (includesLevel(level, 'SYSTEM_LIBRARY_TRACE')) return wire.TraceLevel.SYSTEM_LIBRARY;
  if (includesLevel(level, 'FRAMEWORK_TRACE')) return wire.TraceLevel.FRAMEWORK;
  return includesLevel(level, 'MODEL_TRACE') ? wire.TraceLevel.MODEL : wire.TraceLevel.APPLICATION;
}

/** A level that is unset or that only a newer version knows becomes the deepest level. */
export function fromWireLevel(level: wire.TraceLevel): TraceLevel {
  switch (level) {
    case wire.TraceLevel.APPLICATION:
      return 'APPLICATION_TRACE';
    case wire.TraceLevel.MODEL:
      return 'MODEL_TRACE';
    case wire.TraceLevel.FRAMEWORK:
    case wire.TraceLevel.ML_LIBRARY:
      return 'FRAMEWORK_TRACE';
    default:
      return 'SYSTEM_LIBRARY_TRACE';
  }
}

export function toWireLayerTrace({ untracedMs, tracedMs, kernels, conditions }: LayerTrace): wire.LayerTrace {
  return {
    untracedMs: [...untracedMs],
    tracedMs: [...tracedMs],
    kernels: kernels.map(({ runMs, memory, pool, ...kernel }) => ({
      ...kernel,
      runMs: [...runMs],
      memory: memory && { ...memory },
      pool: pool && { ...pool },
    })),
    system: undefined,
    conditions: toWireConditions(conditions),
  };
}

export function fromWireLayerTrace(message: wire.LayerTrace, runs: number): LayerTrace {
  return check(layerTraceSchema(runs), { ...message, ...fromWireConditions(message.conditions) }, 'trace');
}

export function toWireSpan(span: SpanDocument): wire.Span {
  return {
    traceId: span.trace_id,
    spanId: span.span_id,
    parentSpanId: span.parent_span_id,
    name: span.name,
    kind: span.kind,
    startUnixNano: BigInt(span.start_unix_nano),
    endUnixNano: BigInt(span.end_unix_nano),
    status: span.status,
    statusMessage: span.status_message,
    attributesJson: JSON.stringify(span.attributes),
    resourceJson: JSON.stringify(span.resource),
  };
}

export function fromWireSpan({ attributesJson, resourceJson, ...message }: wire.Span): SpanDocument {
  const document = {
    ...withSnakeKeys(message),
    start_unix_nano: `${message.startUnixNano}`,
    end_unix_nano: `${message.endUnixNano}`,
    attributes: JSON.parse(attributesJson) as unknown,
    resource: JSON.parse(resourceJson) as unknown,
  };
  return check(spanDocumentSchema, document, 'span');
}
