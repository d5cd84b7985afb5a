import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asksForTraces, namesService, otlpProtocolIn, tracesExportersIn } from '../../src/tracing/environment.js';

const REFUSED = { name: 'PlatformError', code: 'usage' };

describe('the OTEL_* variables', () => {
  test('turn tracing on by an exporter or an endpoint, and by nothing else', () => {
    assert.equal(asksForTraces({}), false);
    assert.equal(asksForTraces({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }), false);
    assert.equal(asksForTraces({ OTEL_TRACES_EXPORTER: 'none' }), true);
    assert.equal(asksForTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }), true);
    assert.equal(asksForTraces({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318' }), true);
  });

  test('count as not set if they are empty', () => {
    assert.equal(asksForTraces({ OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }), false);
  });

  test('turn tracing off by OTEL_SDK_DISABLED', () => {
    assert.equal(asksForTraces({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'TRUE' }), false);
  });

  test('choose the exporters: otlp by default, and no exporter for none', () => {
    assert.deepEqual(tracesExportersIn({}), ['otlp']);
    assert.deepEqual(tracesExportersIn({ OTEL_TRACES_EXPORTER: 'console, otlp' }), ['console', 'otlp']);
    assert.deepEqual(tracesExportersIn({ OTEL_TRACES_EXPORTER: 'none' }), []);
  });

  test('are refused if they name something unknown', () => {
    assert.throws(() => tracesExportersIn({ OTEL_TRACES_EXPORTER: 'jaeger' }), REFUSED);
    assert.throws(() => otlpProtocolIn({ OTEL_EXPORTER_OTLP_PROTOCOL: 'smoke' }), REFUSED);
  });

  test('choose the protocol: the variable for traces has priority over the general one', () => {
    assert.equal(otlpProtocolIn({}), 'http/protobuf');
    const everything = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    assert.equal(otlpProtocolIn(everything), 'grpc');
    assert.equal(otlpProtocolIn({ ...everything, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }), 'http/json');
  });

  test('name the service by its own variable or among the resource attributes', () => {
    assert.equal(namesService({}), false);
    assert.equal(namesService({ OTEL_SERVICE_NAME: 'mine' }), true);
    assert.equal(namesService({ OTEL_RESOURCE_ATTRIBUTES: 'team=a,service.name=mine' }), true);
    assert.equal(namesService({ OTEL_RESOURCE_ATTRIBUTES: 'my.service.name=mine' }), false);
  });
});
