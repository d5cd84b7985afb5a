/** Describes `--store`. @param what is kept there */
export function storeDescription(what: string): string {
  return `where ${what} are kept: a folder, or mongodb://HOST/DATABASE (default: MLMODELSCOPE_STORE, or in your data folder)`;
}
