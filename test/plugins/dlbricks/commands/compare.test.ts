import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Command } from 'commander';
import { registerCompare } from '../../../../plugins/dlbricks/commands/compare.js';
import type { Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { comparedReport, modelReport } from '../compare/sample-reports.js';
import { refused } from '../support/refused.js';
import { recordingHost, type RecordingHost } from './command-host.js';

function reportWith(
  ms: number,
  { system = {}, name = 'net' }: { system?: Partial<Report['system']>; name?: string } = {},
): Report {
  const bricks = [{ signature: 'f'.repeat(64), latency_ms: ms / 2, sequences: 2 }];
  const interval = { estimate_ms: ms, estimate_low_ms: ms * 0.99, estimate_high_ms: ms * 1.01 };
  return comparedReport(system, [modelReport(name, interval, bricks)]);
}

async function compare(
  t: TestContext,
  [before, after]: readonly [unknown, unknown],
  options: readonly string[] = [],
): Promise<{ readonly host: RecordingHost; readonly folder: string }> {
  const folder = await temporaryFolder(t);
  const paths = [join(folder, 'before.json'), join(folder, 'after.json')];
  await writeFile(paths[0]!, JSON.stringify(before));
  await writeFile(paths[1]!, JSON.stringify(after));
  const host = recordingHost(createFakeAgent({ latencyOf: () => 1 }));
  const program = new Command().exitOverride();
  registerCompare(program, host);
  await program.parseAsync(['compare', ...paths, ...options], { from: 'user' });
  return { host, folder };
}

describe('compare of reports', () => {
  test('shows each model with its change and verdict, the cause, and the bricks that changed', async (t) => {
    const { host } = await compare(t, [reportWith(10), reportWith(11, { system: { framework_version: '1.30.0' } })]);
    const text = host.printed.join('\n');
    assert.match(text, /│ net +│ +1 │ +10\.00 │ +11\.00 │ \+10\.0 % \(\+8\.5 to \+11\.6\) │ +1\.4 % │ +- │ slower +│/);
    assert.match(
      text,
      /^only framework_version differs \(1\.27\.0, then 1\.30\.0\), so the changes are put down to it$/m,
    );
    assert.match(text, /^bricks that changed, by what they cost in all models \(1 of 1\):$/m);
    assert.match(text, /│ Conv +│ ffffffff +│ +5\.000 │ +5\.500 │ \+10\.0 % .* 2 │ +\+1\.000 │ net +│/);
  });

  test('puts nothing down to what differs where no change was seen', async (t) => {
    const system = { framework_version: '1.30.0' };
    const { host } = await compare(t, [reportWith(10), reportWith(10.01, { system })]);
    const text = host.printed.join('\n');
    assert.match(text, /no difference seen/);
    assert.match(text, /^only framework_version differs \(1\.27\.0, then 1\.30\.0\)$/m);
  });

  test('fails with an exit code of its own if a model is slower by more than a limit', async (t) => {
    const slower = [reportWith(10), reportWith(11)] as const;
    const { host } = await compare(t, slower, ['--fail-above', '5']);
    assert.equal(host.exitCode, 4);
    assert.deepEqual(host.warned, ['slower by more than 5 %: net']);
    const codes: number[] = [];
    for (const [pair, limit] of [
      [slower, '15'],
      [[reportWith(10), reportWith(10.1)], '0'],
      [[reportWith(11), reportWith(10)], '5'],
    ] as const) {
      codes.push((await compare(t, pair, ['--fail-above', limit])).host.exitCode);
    }
    assert.deepEqual(codes, [0, 0, 0]);
  });

  test('ends as partial if a model has no verdict, because a result has no interval', async (t) => {
    const withoutInterval = { estimate_ms: 30, estimate_low_ms: null, estimate_high_ms: null };
    const unknown = comparedReport({}, [modelReport('net', withoutInterval)]);
    const { host } = await compare(t, [reportWith(10), unknown], ['--fail-above', '5']);
    assert.equal(host.exitCode, 3);
    assert.deepEqual(host.warned, ['no verdict, so --fail-above decides nothing about them: net']);
  });

  test('refuses a gate between two machines unless it is asked for, and one that compares nothing', async (t) => {
    const pair = [reportWith(10), reportWith(11, { system: { processor: 'another' } })] as const;
    await refused(compare(t, pair, ['--fail-above', '5']), 'usage', /different machines \(processor\).*--any-machine/);
    assert.equal((await compare(t, pair, ['--fail-above', '5', '--any-machine'])).host.exitCode, 4);
    const partial = comparedReport({}, [modelReport('net', { estimate_ms: 1, coverage: 0.5 })]);
    await refused(
      compare(t, [reportWith(10), partial], ['--fail-above', '5']),
      'usage',
      /no model can be compared\nnet: /,
    );
  });

  test('takes documents of several reports, and exports a row for each model', async (t) => {
    const folder = await temporaryFolder(t);
    const csv = join(folder, 'c.csv');
    await compare(t, [{ reports: [reportWith(10)] }, reportWith(11)], ['--export-csv', csv, '--quiet']);
    const [header, row, ...others] = (await readFile(csv, 'utf8'))
      .trimEnd()
      .split('\r\n')
      .flatMap((line) => line.split('\n'));
    assert.match(header ?? '', /^model,batch,threads_before,threads_after,before_ms,after_ms,ratio,/);
    assert.match(row ?? '', /^net,1,1,1,10,11,1\.1,.*,slower,/);
    assert.deepEqual(others, []);
  });

  test('compares two systems of one document, and lists the systems where one is not there', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'all.json');
    const on = (digit: string, ms: number, threads: number): Report => {
      return reportWith(ms, { system: { fingerprint: digit.repeat(64), threads } });
    };
    await writeFile(file, JSON.stringify({ reports: [on('a', 10, 1), on('b', 6, 2)] }));
    const compared = async (...sides: readonly string[]): Promise<RecordingHost> => {
      const host = recordingHost(createFakeAgent({ latencyOf: () => 1 }));
      const program = new Command().exitOverride();
      registerCompare(program, host);
      await program.parseAsync(['compare', ...sides], { from: 'user' });
      return host;
    };
    const { printed } = await compared(`${file}#aaaa`, `${file}#bbbbbbbb`);
    assert.match(printed.join('\n'), /│ net .*-40\.0 %.* faster +│/);
    assert.match(printed.join('\n'), /^only threads differs \(1, then 2\)/m);
    await refused(
      compared(`${file}#aaaa`, `${file}#cccc`),
      'usage',
      /has no system cccc; it has:\n {2}aaaaaaaa {2}.*\n {2}bbbbbbbb {2}/,
    );
  });

  test('names both sides where they have no model in common, and what is wrong with a file', async (t) => {
    const other = reportWith(10, { name: 'other' });
    await refused(compare(t, [reportWith(10), other]), 'usage', /before\.json has: net; .*after\.json has: other$/);
    await refused(
      compare(t, [reportWith(10), { a: 1 }]),
      'usage',
      /after\.json: expected a report, found a document with the keys "a"; .*--export-json$/,
    );
    const recipe = { format: 'dlbricks-recipe/2', models: [] };
    await refused(
      compare(t, [recipe, reportWith(10)]),
      'usage',
      /before\.json: expected a report, found a document of the format "dlbricks-recipe\/2"; /,
    );
    await refused(
      compare(t, [reportWith(10), []]),
      'usage',
      /after\.json: expected a report, found JSON that is no object; /,
    );
    await refused(compare(t, [reportWith(10), { reports: [{}] }]), 'usage', /reports\.0\.system|reports\[0\]\.system/);
  });
});
