import { PlatformError } from '../base/errors.js';
import { MAX_BODY_BYTES, type WorkMessage } from './work-queue.js';

/** @throws PlatformError `usage` for a body that is too large */
export function checkBody({ body }: WorkMessage): void {
  if (body.length <= MAX_BODY_BYTES) return;
  throw new PlatformError(
    'usage',
    `a message of ${body.length} bytes is too large; at most ${MAX_BODY_BYTES} are allowed`,
  );
}
