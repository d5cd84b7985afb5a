import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import { escaped } from '../base/quoted.js';

export interface Place {
  /** The path by which the manifest was found. */
  readonly file: string;
  /** From 1; the column counts UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  /** Such as `models[0].name`; `document` is the whole. */
  readonly path: string;
}

export interface Problem extends Place {
  readonly expected: string;
  readonly found: string;
}

export interface Note extends Place {
  readonly message: string;
}

/** Returned rather than thrown. There is at least one problem. */
export interface Problems {
  readonly ok: false;
  readonly problems: readonly Problem[];
}

export interface Loaded<M> {
  readonly ok: true;
  readonly manifest: M;
  readonly notes: readonly Note[];
}

/** A malicious manifest can have one problem per byte. */
const MAX_SHOWN_PER_FILE = 100;

function formatPlace({ file, line, column, path }: Place): string {
  return `${escaped(file)}:${line}:${column}: ${path}`;
}

export function formatProblem(problem: Problem): string {
  return `${formatPlace(problem)}: expected ${problem.expected}, found ${problem.found}`;
}

export function formatNote(note: Note): string {
  return `${formatPlace(note)}: ${note.message}`;
}

export function formatProblems(problems: readonly Problem[]): string {
  const shown = new Map<string, number>();
  const lines: string[] = [];
  for (const problem of problems) {
    const count = (shown.get(problem.file) ?? 0) + 1;
    shown.set(problem.file, count);
    if (count <= MAX_SHOWN_PER_FILE) lines.push(formatProblem(problem));
  }
  for (const [file, count] of shown) {
    if (count > MAX_SHOWN_PER_FILE)
      lines.push(`${escaped(file)}: and ${counted(count - MAX_SHOWN_PER_FILE, 'more problem')}`);
  }
  return lines.join('\n');
}

export function byPosition<Placed extends Place>(problems: readonly Placed[]): readonly Placed[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

export function manifestError(problems: readonly Problem[]): PlatformError {
  return new PlatformError('manifest', formatProblems(problems));
}

/** @throws PlatformError `manifest` */
export function orThrow<T extends { readonly ok: true }>(result: T | Problems): T {
  if (!result.ok) throw manifestError(result.problems);
  return result;
}
