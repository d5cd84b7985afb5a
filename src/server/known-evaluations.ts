import { PlatformError } from '../base/errors.js';
import type { EvaluationCollections, EvaluationRecord } from '../evaluation/records.js';

const ID = /^[A-Za-z0-9-]{8,64}$/;

export function checkId(id: string): void {
  if (ID.test(id)) return;
  throw new PlatformError('usage', 'evaluation_id: expected 8 to 64 letters, digits and hyphens, such as a UUID');
}

export async function storedRecord(
  { records }: Pick<EvaluationCollections, 'records'>,
  id: string,
): Promise<EvaluationRecord> {
  const isId = ID.test(id);
  const record = isId ? await records.get({ id }) : undefined;
  if (record !== undefined) return record;
  throw new PlatformError(
    'not_found',
    `there is no evaluation ${isId ? id : 'of that id'} here; \`mlmodelscope evaluations list\` shows those that are`,
  );
}
