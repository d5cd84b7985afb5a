import { PlatformError } from '../base/errors.js';
import { Submission as SubmissionMessage } from '../generated/mlmodelscope/evaluation/v1/submission.js';
import type { Collection } from '../store/collection.js';
import type { SubmissionPart } from '../evaluation/records.js';
import type { Submission } from '../evaluation/submission.js';
import { fromWireSubmission, toWireSubmission } from '../evaluation/wire/submission-wire.js';

/** Bytes in one document; base64 makes a third more of them, and MongoDB's documents hold 16 MB. */
const PART_BYTES = 8 * 2 ** 20;

/** As it travels. */
export function encodeSubmission(submission: Submission): Uint8Array {
  return SubmissionMessage.encode(toWireSubmission(submission)).finish();
}

/** The inverse of {@link encodeSubmission}. */
export function decodeSubmission(bytes: Uint8Array): Submission {
  return fromWireSubmission(SubmissionMessage.decode(bytes));
}

/** Stores a submission, so that it can run after a restart of the server. */
export async function putSubmission(
  evaluation: string,
  submission: Uint8Array,
  parts: Collection<SubmissionPart>,
): Promise<void> {
  const bytes = Buffer.from(submission.buffer, submission.byteOffset, submission.length);
  for (let start = 0, part = 0; start < bytes.length; start += PART_BYTES, part++) {
    const content = bytes.subarray(start, start + PART_BYTES).toString('base64');
    await parts.put({ evaluation, part: String(part).padStart(4, '0'), content });
  }
}

/** @throws PlatformError `storage` where the store does not have it */
export async function getSubmission(evaluation: string, parts: Collection<SubmissionPart>): Promise<Uint8Array> {
  const found: Buffer[] = [];
  for await (const { content } of parts.find({ evaluation })) found.push(Buffer.from(content, 'base64'));
  if (found.length === 0)
    throw new PlatformError('storage', `the submission of ${evaluation} is lost; submit it again`);
  return Buffer.concat(found);
}
