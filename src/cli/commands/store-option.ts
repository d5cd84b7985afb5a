import { storeDescription } from '../../command/store-description.js';

export interface StoreOption {
  readonly store?: string;
}

export const STORE = ['--store <uri>', storeDescription('results')] as const;
