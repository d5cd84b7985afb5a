import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setMeasuringExit } from '../../src/command/measuring-command.js';
import type { CommandHost } from '../../src/evaluation/plugin.js';
import type { Remeasure } from '../../src/measurement/remeasure.js';

/** What an interrupted command says. */
function said(remeasure?: Remeasure): string {
  const lines: string[] = [];
  const host = { warn: (line) => lines.push(line), setExitCode: () => {} } as Partial<CommandHost> as CommandHost;
  setMeasuringExit(host, { isPartial: false, isInterrupted: true, remeasure });
  return lines.join('\n');
}

test('an interrupted command continues, but with --remeasure all it measures everything again, and says so', () => {
  const continues = 'interrupted; everything measured so far is kept, and the same command continues from here';
  assert.equal(said(), continues);
  assert.equal(said({ kind: 'disturbed' }), continues);
  assert.match(said({ kind: 'all' }), /kept; the same command measures all of it again.* without --remeasure all$/);
});
