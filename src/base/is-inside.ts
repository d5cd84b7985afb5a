import { isAbsolute, relative } from 'node:path';

/** Whether the path is the folder or below it, by its text: links are not followed. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way.split(/[\\/]/)[0] !== '..' && !isAbsolute(way);
}
