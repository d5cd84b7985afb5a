import { readFile } from 'node:fs/promises';

/** The analysis that a person wrote below the figures of a document; '' where there is none. */
export async function analysisIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const start = text.indexOf('## Analysis');
  return start < 0 ? '' : text.slice(start);
}
