import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { EXIT_REFUSED } from '../../src/base/exit-codes.js';
import { comparisonSchema } from '../../plugins/dlbricks/compare/comparison-schema.js';

const alarmSchema = z.strictObject({ first: z.boolean(), both: z.boolean(), called_different: z.boolean() });

/** What one comparison of a side with itself said: the gate's alarm, that of its second look, and any difference. */
type Alarm = z.infer<typeof alarmSchema>;

interface Asked {
  readonly command: string;
  readonly model: string;
  readonly rounds: string;
  readonly failAbove: string;
  readonly out: string;
  readonly count: number;
  /** No comparison starts later; by performance.now(). */
  readonly untilMs: number;
}

/** Compares a side with itself until OUT has as many comparisons as were asked for, or until the time is over. */
export async function countAlarms({ command, model, rounds, failAbove, out, count, untilMs }: Asked): Promise<string> {
  await mkdir(out, { recursive: true });
  const alarms: Alarm[] = [];
  for (let index = 1; index <= count; index++) {
    const kept = join(out, `same-${index}.json`);
    if (!existsSync(kept)) {
      if (performance.now() > untilMs) break;
      const file = join(out, 'comparison.json');
      const options = ['--whole', '--rounds', rounds, '--fail-above', failAbove, '--quiet', '--export-json', file];
      const args = [command, 'compare', 'default', 'default', ...options, '--', `zoo:${model}`];
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      if (status !== 0 && status !== EXIT_REFUSED) throw new Error(`a comparison failed: ${stderr}`);
      const { models } = comparisonSchema.parse(JSON.parse(await readFile(file, 'utf8')));
      const alarm: Alarm = {
        first: /measured once more/.test(stderr),
        both: status === EXIT_REFUSED,
        called_different: models.some(({ verdict }) => verdict === 'slower' || verdict === 'faster'),
      };
      await writeFile(kept, JSON.stringify(alarm));
    }
    alarms.push(alarmSchema.parse(JSON.parse(await readFile(kept, 'utf8'))));
  }
  const times = (of: keyof Alarm): number => alarms.filter((alarm) => alarm[of]).length;
  return [
    `${alarms.length} comparisons of ${model} with itself, ${rounds} rounds each:`,
    `${times('called_different')} called it different, ${times('first')} slower by more than ${failAbove}, ${times('both')} so both times`,
  ].join(' ');
}
