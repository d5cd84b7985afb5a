import { PlatformError } from '../base/errors.js';
import type { Collection } from '../store/collection.js';
import type { EvaluationLeases } from './jobs.js';
import type { EvaluationCollections, EvaluationRecord, SubmissionPart } from '../evaluation/records.js';

/** Bytes in one document: few enough that a part delays no other client. */
const PART_BYTES = 2 ** 20;

type SubmissionCollections = Pick<EvaluationCollections, 'records' | 'parts' | 'arrivals'>;

/** With its record, so that it can run after a restart; {@link removeHalfSubmissions} removes one without a record. */
export async function putSubmission(
  record: EvaluationRecord,
  submission: Uint8Array,
  collections: SubmissionCollections,
): Promise<void> {
  const { records, parts, arrivals } = collections;
  const arrival = { evaluation: record.id };
  await arrivals.put(arrival);
  try {
    // Removes the parts of a failed attempt, which may be more than the new ones.
    await parts.delete(arrival);
    const bytes = Buffer.from(submission.buffer, submission.byteOffset, submission.length);
    for (let start = 0, part = 0; start < bytes.length; start += PART_BYTES, part++) {
      const content = bytes.subarray(start, start + PART_BYTES).toString('base64');
      await parts.put({ ...arrival, part: String(part).padStart(4, '0'), content });
    }
    await records.put(record);
  } catch (error) {
    // If the store fails now as well, the next server removes the submission.
    await removeHalf(record.id, collections).catch(() => undefined);
    throw error;
  }
  // If this fails, the next server sees that there is a record.
  await arrivals.delete(arrival).catch(() => undefined);
}

/** Removes submissions that a server had not stored completely when it ended, but not those that one is storing now. */
export async function removeHalfSubmissions(
  collections: SubmissionCollections,
  leases: EvaluationLeases,
): Promise<void> {
  const arriving: string[] = [];
  for await (const { evaluation } of collections.arrivals.find({})) arriving.push(evaluation);
  if (arriving.length === 0) return;
  const others = await leases.take(arriving);
  for (const evaluation of arriving) {
    if (others.has(evaluation)) continue;
    await removeHalf(evaluation, collections);
    await leases.release(evaluation);
  }
}

async function removeHalf(id: string, { records, parts, arrivals }: SubmissionCollections): Promise<void> {
  if ((await records.get({ id })) === undefined) await parts.delete({ evaluation: id });
  await arrivals.delete({ evaluation: id });
}

/** @throws PlatformError `storage` if the store does not have the submission */
export async function getSubmission(evaluation: string, parts: Collection<SubmissionPart>): Promise<Uint8Array> {
  const found: Buffer[] = [];
  for await (const { content } of parts.find({ evaluation })) found.push(Buffer.from(content, 'base64'));
  if (found.length === 0)
    throw new PlatformError('storage', `the submission of ${evaluation} is lost; submit it again`);
  return Buffer.concat(found);
}
