import { storeDescription } from '../../command/options.js';

/** The store that a command reads or changes. */
export interface StoreOption {
  readonly store?: string;
}

export const STORE = ['--store <uri>', storeDescription('results')] as const;
