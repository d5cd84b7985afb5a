import { PlatformError } from '../base/errors.js';
import type { EvaluationClient } from '../evaluation/client/evaluation-client.js';

/** The form of a whole id: a UUID. */
const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The first digits of an id are searched for among this many newest evaluations. */
const LOOKED_AT = 1000;

/** @param text an id, first digits of only one of the newest, or `latest` @throws PlatformError `not_found` */
export async function evaluationId(client: EvaluationClient, text: string): Promise<string> {
  if (WHOLE_ID.test(text)) return text;
  const evaluations = await client.list(text === 'latest' ? 1 : LOOKED_AT);
  const meant = text === 'latest' ? evaluations : evaluations.filter(({ id }) => id.startsWith(text.toLowerCase()));
  const [found] = meant;
  if (found !== undefined && meant.length === 1) return found.id;
  const problem = found === undefined ? `no evaluation is called ${text}` : `${meant.length} ids begin with ${text}`;
  throw new PlatformError('not_found', `${problem}; \`mlmodelscope evaluations list\` shows the ids`);
}
