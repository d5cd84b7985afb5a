import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { EvaluationServiceService } from '../generated/mlmodelscope/evaluation/v1/evaluation_service.js';

/** A SubmitEvaluationRequest with its submission as bytes: it is decoded outside of the server's event loop. */
export interface SubmitRequest {
  readonly evaluationId: string;
  readonly submission: Uint8Array;
}

const EVALUATION_ID = 1;
const SUBMISSION = 2;

function read(source: Uint8Array | BinaryReader): SubmitRequest {
  // The server passes a CountingReader.
  const reader = source instanceof BinaryReader ? source : new BinaryReader(source);
  let evaluationId = '';
  // Several submissions are merged: decoding concatenated messages merges them.
  const submissions: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === EVALUATION_ID && type === WireType.LengthDelimited) evaluationId = reader.string();
    else if (field === SUBMISSION && type === WireType.LengthDelimited) submissions.push(reader.bytes());
    else reader.skip(type, field);
  }
  const [only = new Uint8Array()] = submissions;
  return { evaluationId, submission: submissions.length <= 1 ? only : Buffer.concat(submissions) };
}

export const submitEvaluationInBytes = { ...EvaluationServiceService.submitEvaluation, requestDeserialize: read };
