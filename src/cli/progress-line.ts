export interface ProgressState {
  readonly title: string;
  readonly done: number;
  readonly total: number;
  /** undefined while it is not known. */
  readonly secondsLeft: number | undefined;
  readonly label: string;
  readonly within: string;
}

/** A terminal with this many columns has room for the wide bar. */
const WIDE_TERMINAL = 100;
const WIDE_BAR = 30;
const NARROW_BAR = 12;

/** With fewer columns for the label, it is left out. */
const MIN_LABEL_WIDTH = 8;

/** Upper bound for the columns of a character: two for East Asian scripts, emoji and all code points above them. */
function countColumns(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code >= 0x2e80 || (code >= 0x1100 && code <= 0x115f) ? 2 : 1;
}

function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += countColumns(character);
  return columns;
}

function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  let taken = 1; // the ellipsis
  for (const character of text) {
    taken += countColumns(character);
    if (taken > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

function bar(share: number, size: number): string {
  const full = Math.floor(share * size);
  return `[${'='.repeat(full)}${'-'.repeat(size - full)}]`;
}

export function roughDuration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** One line, the most important parts first: measuring  18 % [==----------]  7/39  5 s left  LABEL (run 23 of 53) */
export function progressLine(
  { title, done, total, secondsLeft, label, within }: ProgressState,
  columns: number,
): string {
  // There is nothing to count yet.
  if (total === 0) return fit(within === '' ? label : `${label} (${within})`, columns - 1);
  const share = done / total;
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  const count = `${String(done).padStart(String(total).length)}/${total}`;
  const parts = [
    `${title} ${percent} % ${bar(share, columns >= WIDE_TERMINAL ? WIDE_BAR : NARROW_BAR)}`,
    count,
    ...(secondsLeft === undefined ? [] : [`${roughDuration(secondsLeft)} left`]),
  ];
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line}  ${part}`;
    if (width(longer) < columns) line = longer;
  }
  // The last column stays free, because terminals wrap the line when it is written.
  const room = columns - 1 - width(line) - 2;
  if (room < MIN_LABEL_WIDTH) return fit(line, columns - 1);
  const detailed = within === '' ? label : `${label} (${within})`;
  return `${line}  ${width(detailed) <= room ? detailed : fit(label, room)}`;
}
