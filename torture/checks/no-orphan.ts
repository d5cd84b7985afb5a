import type { Workplace } from '../../test/cli/support/command.js';
import { commandOf, processesIn, soon } from '../place/round.js';

/** @throws where a process of the place does not end by itself */
export async function assertNoOrphan(place: Workplace): Promise<void> {
  await soon(
    () => processesIn(place).length === 0,
    () => `a process is left behind: ${processesIn(place).map(commandOf).join('; ')}`,
  );
}
