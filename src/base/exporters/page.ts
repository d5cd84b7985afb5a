import type { Markup } from '../markup.js';
import type { TextTable } from '../text-table.js';

export interface PageSection {
  readonly title: string;
  readonly lead?: string;
  readonly chart?: Markup | undefined;
  readonly table?: TextTable;
}

export interface Page {
  readonly title: string;
  readonly verdict?: string | undefined;
  readonly sections: readonly PageSection[];
}
