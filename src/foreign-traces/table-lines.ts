import { StringDecoder } from 'node:string_decoder';
import { traceError } from './trace-error.js';

/** Most characters of one record; a layer of the largest known models takes a few thousand. */
const MAX_CHARACTERS = 2 ** 20;

function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

/** @param options.isQuoted whether a line end within double quotes (RFC 4180) belongs to the record */
export async function forEachLine(
  chunks: AsyncIterable<Buffer>,
  source: string,
  onLine: (text: string, line: number) => void,
  { isQuoted = false }: { readonly isQuoted?: boolean } = {},
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  /** Lines of a record with an open quote. Each line is searched for quotes only once. */
  let held: string[] = [];
  let characters = 0;
  let isOpen = false;
  let line = 1;
  let lines = 0;
  const take = (text: string): void => {
    lines++;
    held.push(text);
    characters += text.length + 1;
    if (characters > MAX_CHARACTERS) {
      throw traceError(source, `line ${line}`, `a record of more than ${MAX_CHARACTERS} characters begins here`);
    }
    if (isQuoted && hasOddQuotes(text)) isOpen = !isOpen;
    if (isOpen) return;
    const record = held.join('\n');
    if (record.trim() !== '') onLine(record.endsWith('\r') ? record.slice(0, -1) : record, line);
    held = [];
    characters = 0;
    line = lines + 1;
  };
  let rest = '';
  for await (const chunk of chunks) {
    let text = rest + decoder.write(chunk);
    if (lines === 0 && text.startsWith('\ufeff')) text = text.slice(1);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      take(text.slice(start, end));
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > MAX_CHARACTERS) take(rest);
  }
  if (rest !== '') take(rest);
  if (isOpen) throw traceError(source, `line ${line}`, 'the file ends in the middle of a record');
  if (lines === 0) throw traceError(source, 'line 1', 'the file is empty');
}
