export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Lines end with LF, CR LF or CR, as in YAML. */
export function positionsIn(text: string): (offset: number) => Position {
  const lineStarts = [0];
  for (const lineBreak of text.matchAll(/\r\n|\r|\n/g)) lineStarts.push(lineBreak.index + lineBreak[0].length);
  return (offset) => {
    let low = 0;
    let high = lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
  };
}
