import { createHash } from 'node:crypto';

/** In hex. */
export function sha256Of(content: string | NodeJS.ArrayBufferView): string {
  return createHash('sha256').update(content).digest('hex');
}
