import { PlatformError } from '../base/errors.js';
import type { Collection } from '../store/collection.js';
import type { SubmissionPart } from '../evaluation/records.js';

/** Bytes in one document, so few that a part keeps nobody waiting. */
const PART_BYTES = 2 ** 20;

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
