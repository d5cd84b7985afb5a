import envPaths from 'env-paths';
import path from 'node:path';

/** For files that can be made again: MLMODELSCOPE_CACHE, else a folder in the user's cache. */
export function defaultCacheDir(environment: Readonly<NodeJS.ProcessEnv> = process.env): string {
  const chosen = environment['MLMODELSCOPE_CACHE'];
  return chosen === undefined || chosen === '' ? envPaths('mlmodelscope', { suffix: '' }).cache : path.resolve(chosen);
}
