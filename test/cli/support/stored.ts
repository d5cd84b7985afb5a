import { setTimeout } from 'node:timers/promises';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import type { Workplace } from './command.js';

/** Waits until a command that runs has stored a measurement. */
export async function untilSomethingIsStored({ store }: Workplace): Promise<void> {
  const opened = await openEmbeddedStore(store, {});
  try {
    while ((await opened.listSystems()).length === 0) await setTimeout(20);
  } finally {
    await opened.close();
  }
}
