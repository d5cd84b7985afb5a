/** The store that a command is about. */
export interface StoreOption {
  readonly store?: string;
}

export const STORE = [
  '--store <uri>',
  'a folder, or mongodb://HOST/DATABASE; default: MLMODELSCOPE_STORE or your own',
] as const;
