import { StringDecoder } from 'node:string_decoder';
import { traceError } from './trace-error.js';

/** Longest line of a table; a layer of the largest known models takes a few thousand. */
const MOST_CHARACTERS = 2 ** 20;

/** A record of a table, and the line of the file on which it begins. */
export type OnLine = (text: string, line: number) => void;

/**
 * Cuts a text into lines, without ever holding more of it than one.
 *
 * @param isWhole whether a record ends with this line; where not, the next line belongs to it
 * @throws PlatformError `usage` for a record that is longer than any layer
 */
export async function forEachLine(
  chunks: AsyncIterable<Buffer>,
  source: string,
  onLine: OnLine,
  isWhole: (text: string) => boolean = () => true,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let held = '';
  let [line, lines] = [1, 0];
  const take = (text: string): void => {
    lines++;
    held = held === '' ? text : `${held}\n${text}`;
    if (held.length > MOST_CHARACTERS) {
      throw traceError(source, `line ${line}`, `a record of more than ${MOST_CHARACTERS} characters begins here`);
    }
    if (!isWhole(held)) return;
    if (held.trim() !== '') onLine(held.endsWith('\r') ? held.slice(0, -1) : held, line);
    held = '';
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
    if (rest.length > MOST_CHARACTERS) take(rest);
  }
  rest += decoder.end();
  if (rest !== '') take(rest);
  if (held !== '') throw traceError(source, `line ${line}`, 'the file ends in the middle of a record');
  if (lines === 0) throw traceError(source, 'line 1', 'the file is empty');
}
