import type { Markup } from '../markup.js';
import type { TextTable } from '../text-table.js';

/** A part of a page. */
export interface PageSection {
  readonly title: string;
  /** What it shows, in sentences. */
  readonly lead?: string;
  readonly chart?: Markup | undefined;
  readonly table?: TextTable;
}

/** A result as a page, besides its warnings and notes. */
export interface Page {
  /** What was measured on what. */
  readonly title: string;
  /** What came out, in a sentence or two. */
  readonly verdict?: string | undefined;
  readonly sections: readonly PageSection[];
}
