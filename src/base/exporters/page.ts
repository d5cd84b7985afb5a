import type { Markup } from '../markup.js';
import type { TextTable } from '../text-table.js';

export interface PageSection {
  readonly title: string;
  /** What it shows, in sentences. */
  readonly lead?: string;
  readonly chart?: Markup | undefined;
  readonly table?: TextTable;
}

export interface Page {
  /** What was measured on what. */
  readonly title: string;
  /** What came out, in a sentence or two. */
  readonly verdict?: string | undefined;
  readonly sections: readonly PageSection[];
}
