/** A word that is too long stays whole, and a number beside its ± and %. @param indent begins every piece but the first */
export function wrap(line: string, width: number, indent: string): string {
  const pieces: string[] = [];
  let piece = '';
  // A line's own indentation is part of its first word.
  for (const word of line.split(/(?<=[^\s±]) (?!%)/)) {
    const longer = piece === '' ? word : `${piece} ${word}`;
    if (piece === '' || longer.length <= width) piece = longer;
    else {
      pieces.push(piece);
      piece = indent + word;
    }
  }
  return [...pieces, piece].join('\n');
}
