import { createHash } from 'node:crypto';
import { PlatformError } from '../base/errors.js';
import { Submission as SubmissionMessage } from '../generated/mlmodelscope/evaluation/v1/submission.js';
import type { Collection } from '../store/collection.js';
import type { SubmissionPart } from '../evaluation/records.js';
import type { Submission } from '../evaluation/submission.js';
import { fromWireSubmission, toWireSubmission } from '../evaluation/wire/submission-wire.js';

/** Bytes in one document; base64 makes a third more of them, and MongoDB's documents hold 16 MB. */
const PART_BYTES = 8 * 2 ** 20;

/** Key of a submission. */
export function digestOf(submission: Submission): string {
  const bytes = SubmissionMessage.encode(toWireSubmission(submission)).finish();
  return createHash('sha256').update(bytes).digest('hex');
}

/** Keeps what was submitted, so that it can be run after a restart of the server. */
export async function putSubmission(
  evaluation: string,
  submission: Submission,
  parts: Collection<SubmissionPart>,
): Promise<void> {
  const bytes = Buffer.from(SubmissionMessage.encode(toWireSubmission(submission)).finish());
  for (let start = 0, part = 0; start < bytes.length; start += PART_BYTES, part++) {
    const content = bytes.subarray(start, start + PART_BYTES).toString('base64');
    await parts.put({ evaluation, part: String(part).padStart(4, '0'), content });
  }
}

/** @throws PlatformError `storage` where the store does not have it, or what it has is damaged */
export async function getSubmission(evaluation: string, parts: Collection<SubmissionPart>): Promise<Submission> {
  const found: Buffer[] = [];
  for await (const { content } of parts.find({ evaluation })) found.push(Buffer.from(content, 'base64'));
  if (found.length === 0)
    throw new PlatformError('storage', `the submission of ${evaluation} is lost; submit it again`);
  return fromWireSubmission(SubmissionMessage.decode(Buffer.concat(found)));
}
