import { stat } from 'node:fs/promises';

/** Whether there is a folder at this path, possibly through links. */
export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
