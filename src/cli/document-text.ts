// Apart from the schemas, which take longer to load than a short command to run.
import type { z } from 'zod';
import { withSnakeKeys } from '../base/snake-case.js';
import type { DocumentKind, Documents } from './json-documents.js';

export function documentOf<K extends DocumentKind>(_kind: K, value: z.input<Documents[K]>): object {
  return withSnakeKeys(value) as object;
}

export function documentText<K extends DocumentKind>(kind: K, value: z.input<Documents[K]>): string {
  return `${JSON.stringify(documentOf(kind, value), null, 2)}\n`;
}
