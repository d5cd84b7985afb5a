// Apart from the schemas, which take longer to load than a short command to run.
import type { z } from 'zod';
import { withSnakeKeys } from '../base/snake-case.js';
import type { DocumentKind, Documents } from './json-documents.js';

export function toDocument<K extends DocumentKind>(_kind: K, value: z.input<Documents[K]>): object {
  return withSnakeKeys(value);
}

export function documentText<K extends DocumentKind>(kind: K, value: z.input<Documents[K]>): string {
  return `${JSON.stringify(toDocument(kind, value), null, 2)}\n`;
}
