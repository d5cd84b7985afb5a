/** Cursor movement, erasing and modes, as far as this project's commands use them (ECMA-48; xterm's DECTCEM). */
const SEQUENCE = /^\u001b\[(?<parameter>\??\d*)(?<final>[A-Za-z])/;

/** The content of a terminal after some output, and its earlier content. */
export interface Screen {
  /** All lines, also those that have scrolled away, without blanks at their ends. */
  readonly lines: readonly string[];
  readonly cursorShown: boolean;
}

/**
 * Interprets output as a terminal of this number of columns does. An unknown sequence is an error, so that none is
 * overlooked.
 */
export function screenOf(output: string, columns: number): Screen {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  let cursorShown = true;
  const line = (): string[] => (rows[row] ??= []);
  const move = (final: string, parameter: string): void => {
    switch (final) {
      case 'G': // column, from 1
        column = Number(parameter || '1') - 1;
        break;
      case 'A': // up
        row = Math.max(0, row - Number(parameter || '1'));
        break;
      case 'K': // erase in the line: to its end, or all of it
        if (parameter === '2') rows[row] = [];
        else line().length = Math.min(line().length, column);
        break;
      case 'J': // erase below
        line().length = Math.min(line().length, column);
        rows.length = row + 1;
        break;
      case 'm': // colour
        break;
      case 'h':
      case 'l':
        if (parameter !== '?25') throw new Error(`mode ${parameter}${final}`);
        cursorShown = final === 'h';
        break;
      default:
        throw new Error(`sequence ${JSON.stringify(parameter + final)}`);
    }
  };
  for (let rest = output; rest !== '';) {
    const sequence = SEQUENCE.exec(rest);
    if (sequence?.groups !== undefined) {
      move(sequence.groups['final'] ?? '', sequence.groups['parameter'] ?? '');
      rest = rest.slice(sequence[0].length);
      continue;
    }
    const [character = ''] = rest;
    rest = rest.slice(character.length);
    if (character === '\r') column = 0;
    else if (character === '\n') row++;
    else if (character < ' ') throw new Error(`control character ${JSON.stringify(character)}`);
    else {
      if (column === columns) [row, column] = [row + 1, 0];
      line()[column++] = character;
    }
  }
  const lines = Array.from(rows, (cells = []) =>
    Array.from(cells, (cell = ' ') => cell)
      .join('')
      .trimEnd(),
  );
  return { lines, cursorShown };
}
