import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The root of the repository. */
export const ROOT = join(import.meta.dirname, '../../..');

/** The fenced blocks of one language below a heading of a page in docs/, in their order. */
export async function documentedCode(page: string, heading: string, language: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [content = ''] = section.split('\n## ');
  return [...content.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, code = '']) =>
    found === language ? [code] : [],
  );
}
