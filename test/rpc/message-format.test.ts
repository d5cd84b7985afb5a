import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BenchmarkServiceService, InferTypesRequest } from '../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { VALUE_BYTES } from '../../src/rpc/counting-reader.js';
import { contractFormat, standardFormat } from '../../src/rpc/message-format.js';
import { service as healthService } from 'grpc-health-check';
import { refusal } from './support/refusal.js';

const method = BenchmarkServiceService.inferTypes as unknown as Parameters<typeof contractFormat>[0];

/** A request with this many inputs, each of which is two values: it and its name. */
function requestWith(inputs: number): Buffer {
  const all = Array.from({ length: inputs }, () => ({ name: 'x' }));
  return Buffer.from(InferTypesRequest.encode(InferTypesRequest.fromPartial({ benchmark: { inputs: all } })).finish());
}

describe('a method of the contract', () => {
  const bytes = requestWith(10);
  const enough = 1000 * VALUE_BYTES;
  const { valueBytes, request } = contractFormat(method).decode(bytes, enough);

  test('has its request decoded, and the memory of its values counted', () => {
    assert.equal((request as InferTypesRequest).benchmark?.inputs.length, 10);
    const more = contractFormat(method).decode(requestWith(11), enough).valueBytes;
    assert.ok(more > valueBytes && more % VALUE_BYTES === 0, `${valueBytes}, ${more}`);
  });

  test('accepts a request of its limit, and none that is longer', () => {
    contractFormat(method, bytes.length * VALUE_BYTES).decode(bytes, enough);
    const refused = refusal(
      'usage',
      new RegExp(`has ${bytes.length} bytes; this method takes at most ${bytes.length - 1}$`),
    );
    assert.throws(() => contractFormat(method, bytes.length - 1).decode(bytes, enough), refused);
  });

  test('accepts values if there is room for them, and refuses one more until there is room', () => {
    contractFormat(method).decode(bytes, valueBytes);
    contractFormat(method).decode(bytes, valueBytes + VALUE_BYTES - 1);
    assert.throws(() => contractFormat(method).decode(bytes, valueBytes - 1), refusal('exhausted', /try again later/));
  });

  test('refuses more than one value for each 128 bytes of its limit, even if there is room', () => {
    const most = 200 * 128;
    assert.throws(() => contractFormat(method, most).decode(requestWith(200), 1e9), refusal('usage', /the 200 values/));
  });

  test('refuses a damaged request', () => {
    assert.throws(
      () => contractFormat(method).decode(Buffer.of(0x0a, 0x7f), enough),
      refusal('usage', /^the request is damaged: /),
    );
  });

  test('reads the requests of a stream as they come, but those to health and reflection one after the other', () => {
    const { Check: check } = healthService;
    assert.ok(check);
    assert.equal(contractFormat(method).isPaced, false);
    assert.equal(standardFormat(check as typeof method).isPaced, true);
  });

  test('of health and reflection has values that take no memory', () => {
    const { Check: check } = healthService;
    assert.ok(check);
    const bytes = check.requestSerialize({ service: 'x' });
    const decoded = standardFormat(check as typeof method).decode(bytes, 0);
    assert.deepEqual(decoded, { request: { service: 'x' }, valueBytes: 0 });
  });
});
