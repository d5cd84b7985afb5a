import { PlatformError } from '../base/errors.js';
import { escaped } from '../base/quoted.js';

export interface Problem {
  /** The path by which the manifest was found. */
  readonly file: string;
  /** From 1; the column counts UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  /** Such as `models[0].name`; `document` is the whole. */
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

export interface Note extends Omit<Problem, 'expected' | 'found'> {
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

function place({ file, line, column, path }: Omit<Problem, 'expected' | 'found'>): string {
  return `${escaped(file)}:${line}:${column}: ${path}`;
}

export function formatProblem(problem: Problem): string {
  return `${place(problem)}: expected ${problem.expected}, found ${problem.found}`;
}

export function formatNote(note: Note): string {
  return `${place(note)}: ${note.message}`;
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
    if (count > MAX_SHOWN_PER_FILE) lines.push(`${escaped(file)}: and ${count - MAX_SHOWN_PER_FILE} more problems`);
  }
  return lines.join('\n');
}

export function byPosition(problems: readonly Problem[]): readonly Problem[] {
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
