import { access, readFile } from 'node:fs/promises';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { measuringProcessesOf } from '../../test/agent/support/processes.js';
import type { Running, Workplace } from '../../test/cli/support/command.js';
import { reportIn } from '../../test/cli/support/report.js';
import { chain, MANY_OPERATORS } from '../../test/cli/support/tiny-models.js';
import { assertFullCoverage } from '../checks/full-coverage.js';
import { assertNoOrphan } from '../checks/no-orphan.js';
import { assertKept, StoreReader } from '../checks/store.js';
import { moment, type Round } from '../place/round.js';
import type { Target } from './target.js';

/** Writes a model of twenty operators. @returns the arguments of a command that measures it */
export async function commandIn(place: Workplace, cut: 'kernel' | 'layer'): Promise<readonly string[]> {
  const model = await place.write('many.onnx', chain(MANY_OPERATORS));
  return ['dlbricks', 'validate', model, '--cut', cut, '--runs', '5', '--warmup', '1', '--export-json'];
}

const REPORT = 'report.json';

/** A report is complete or not there at all. */
async function assertNoHalfReport(place: Workplace): Promise<void> {
  const path = place.path(REPORT);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) reportIn({ stdout: await readFile(path, 'utf8') });
}

/** Calls `kill` at a random moment. Then nothing may be lost, no process may remain, and the same command continues. */
async function killed(
  round: Round,
  { ownGroup = false, kill }: { readonly ownGroup?: boolean; readonly kill: (command: Running) => void },
): Promise<void> {
  const { place, random } = round;
  const args = await commandIn(place, random.pick(['kernel', 'layer']));
  // Two processes may make a store at the same time, or one.
  const reader = random.oneIn(2) ? new StoreReader(place.store) : undefined;
  const command = place.start([...args, REPORT], { ownGroup });
  await moment(round);
  if (command.process.exitCode === null) kill(command);
  await command.ended;
  await reader?.stop();
  const seen = reader?.seen ?? new Set();
  await assertNoOrphan(place);
  await assertNoHalfReport(place);
  const open = openEmbeddedStore.bind(undefined, place.store);
  await assertKept(open, seen);
  assertFullCoverage(await place.run([...args, '-']));
  await assertKept(open, seen);
  await assertNoOrphan(place);
}

/** Kills the command alone: the processes that it started have to end by themselves. */
export const command: Target = {
  name: 'command',
  share: 10,
  run: (round) => killed(round, { kill: ({ process }) => void process.kill('SIGKILL') }),
};

/** Kills the command and all processes that it started, at once. */
export const group: Target = {
  name: 'group',
  share: 10,
  run: (round) => killed(round, { ownGroup: true, kill: ({ pid }) => void process.kill(-pid, 'SIGKILL') }),
};

/** Kills the process that measures: the command has to end by itself. */
export const child: Target = {
  name: 'child',
  share: 10,
  run: (round) =>
    killed(round, {
      kill: ({ pid }) => {
        for (const measuring of measuringProcessesOf(pid)) process.kill(measuring, 'SIGKILL');
      },
    }),
};
