import type { ComparedModel, ComparisonDocument } from './comparison-schema.js';
import { type LabelledRow, rowKey } from './row.js';

export interface Occasion {
  readonly document: ComparisonDocument;
  /** Rows of the first side that the second lacks. */
  readonly vanished: readonly LabelledRow[];
  /** As in "slower in after.json". */
  readonly where: string;
}

interface JudgedRow {
  readonly label: string;
  readonly model: string;
  readonly slower: string[];
  readonly notSlower: string[];
  readonly undecided: string[];
}

export interface Judged {
  /** On all occasions. */
  readonly slower: readonly JudgedRow[];
  /** On some occasions. */
  readonly cleared: readonly JudgedRow[];
  /** No occasion clears them, and not all decide. */
  readonly open: readonly JudgedRow[];
}

/** Whether a row passes although its interval could not show a change of the limit. */
export function isBlind({ verdict, seen_from_percent: from }: ComparedModel, limitPercent: number): boolean {
  return limitPercent > 0 && verdict === 'no difference seen' && (from ?? 0) > limitPercent;
}

/** Rows of all occasions by what they are on the first side, which all have in common. */
export function judgeRows(occasions: readonly Occasion[], limitPercent: number): Judged {
  const found = new Map<string, JudgedRow>();
  const rowOf = (key: string, label: string, model: string): JudgedRow => {
    const row = found.get(key) ?? { label, model, slower: [], notSlower: [], undecided: [] };
    found.set(key, row);
    return row;
  };
  const isAbove = ({ verdict, ratio }: ComparedModel): boolean => {
    return verdict === 'slower' && (ratio ?? 0) > 1 + limitPercent / 100;
  };
  for (const { document, vanished, where } of occasions) {
    for (const one of document.models) {
      const row = rowOf(rowKey({ ...one, threads: one.threads_before }), one.label, one.model);
      if (one.verdict !== null) (isAbove(one) ? row.slower : row.notSlower).push(where);
      else row.undecided.push(`${one.reason === null ? 'no interval' : 'not compared'} ${where}`);
    }
    for (const one of vanished) rowOf(rowKey(one), one.label, one.model).undecided.push(`missing ${where}`);
  }
  const rows = [...found.values()];
  const uncleared = rows.filter(({ notSlower }) => notSlower.length === 0);
  return {
    slower: uncleared.filter(({ undecided }) => undecided.length === 0),
    cleared: rows.filter(({ slower, notSlower }) => slower.length > 0 && notSlower.length > 0),
    open: uncleared.filter(({ undecided }) => undecided.length > 0),
  };
}
