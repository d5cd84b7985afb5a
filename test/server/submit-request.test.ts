import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toWireSubmission } from '../../src/evaluation/wire/submission-wire.js';
import {
  EvaluationServiceService,
  SubmitEvaluationRequest,
} from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { Submission } from '../../src/generated/mlmodelscope/evaluation/v1/submission.js';
import { submitEvaluationInBytes } from '../../src/server/submit-request.js';
import { submission } from './fake-platform.js';

const { requestDeserialize: read } = submitEvaluationInBytes;

const wire = toWireSubmission(submission());
const bytesOf = (part: Partial<Submission>): Uint8Array => Submission.encode(Submission.fromPartial(part)).finish();

test('a request has the id, and the submission as it came', () => {
  const bytes = SubmitEvaluationRequest.encode({ evaluationId: 'an-id', submission: wire }).finish();
  for (const source of [bytes, new BinaryReader(bytes)]) {
    const { evaluationId, submission: received } = read(source);
    assert.equal(evaluationId, 'an-id');
    assert.deepEqual(Buffer.from(received), Buffer.from(Submission.encode(wire).finish()));
  }
});

test('an empty request has neither', () => {
  assert.deepEqual(read(new Uint8Array()), { evaluationId: '', submission: new Uint8Array() });
});

test('two submissions are merged in their order, as the format has it', () => {
  const parts = [bytesOf({ manifestPath: 'one', allowVersion: true }), bytesOf({ manifestPath: 'two' })];
  const writer = new BinaryWriter();
  for (const part of parts) writer.tag(2, WireType.LengthDelimited).bytes(part);
  const request = writer.tag(1, WireType.LengthDelimited).string('id').finish();
  const { evaluationId, submission: received } = read(request);
  assert.equal(evaluationId, 'id');
  assert.deepEqual(Buffer.from(received), Buffer.concat(parts));
  const { manifestPath, allowVersion } = Submission.decode(received);
  assert.deepEqual({ manifestPath, allowVersion }, { manifestPath: 'two', allowVersion: true });
});

test('fields that a newer client adds are skipped, also those of another type', () => {
  const request = new BinaryWriter()
    .tag(3, WireType.LengthDelimited)
    .string('new')
    .tag(1, WireType.Varint)
    .uint32(7)
    .tag(2, WireType.Varint)
    .uint32(7)
    .tag(1, WireType.LengthDelimited)
    .string('id')
    .tag(2, WireType.LengthDelimited)
    .bytes(bytesOf({ manifestPath: 'a' }))
    .finish();
  const { evaluationId, submission: received } = read(request);
  assert.equal(evaluationId, 'id');
  assert.deepEqual(Buffer.from(received), Buffer.from(bytesOf({ manifestPath: 'a' })));
});

test('the method is the one of the contract', () => {
  const { path, requestStream, responseStream } = submitEvaluationInBytes;
  assert.deepEqual(
    [path, requestStream, responseStream],
    [EvaluationServiceService.submitEvaluation.path, false, false],
  );
});
