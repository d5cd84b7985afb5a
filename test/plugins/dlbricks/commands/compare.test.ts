import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Command } from 'commander';
import { registerCompare } from '../../../../plugins/dlbricks/commands/compare.js';
import type { ModelReport, Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { resultFindings } from '../../../../src/command/doctor/result.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { comparedReport, modelReport } from '../compare/sample-reports.js';
import { assertRefused } from '../../../rpc/support/refusal.js';
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
    assert.match(
      host.warned.join('\n'),
      /^no verdict, so --fail-above decides nothing about it: net: no interval in .*after\.json$/,
    );
  });

  describe('with a gate', () => {
    interface Net {
      readonly ms: number;
      readonly name?: string;
      readonly threads?: number;
      readonly changes?: Partial<ModelReport>;
    }

    const document = (...nets: readonly Net[]): unknown => ({
      reports: nets.map(({ ms, name = 'net', threads = 1, changes = {} }) => {
        const report = reportWith(ms, { name, system: { threads } });
        return { ...report, models: report.models.map((model) => ({ ...model, ...changes })) };
      }),
    });
    const noInterval = { estimate_low_ms: null, estimate_high_ms: null };

    async function gate(t: TestContext, before: unknown, ...after: readonly unknown[]): Promise<RecordingHost> {
      const folder = await temporaryFolder(t);
      const save = async (name: string, content: unknown): Promise<string> => {
        await writeFile(join(folder, name), JSON.stringify(content));
        return join(folder, name);
      };
      const baseline = await save('baseline.json', before);
      const results: string[] = [];
      for (const [index, content] of after.entries()) results.push(await save(`${index + 1}.json`, content));
      const host = recordingHost(createFakeAgent({ latencyOf: () => 1 }));
      const program = new Command().exitOverride();
      registerCompare(program, host);
      const words = ['compare', ...results, '--baseline', baseline, '--fail-above', '5'];
      await program.parseAsync(words, { from: 'user' });
      return Object.assign(host, { warned: host.warned.map((line) => line.replaceAll(`${folder}/`, '')) });
    }

    test('rows of one model are told apart', async (t) => {
      const two = (one: number, other: number): unknown => document({ ms: one }, { ms: other, threads: 2 });
      const { exitCode, warned } = await gate(t, two(10, 6), two(12, 6.01), two(10.01, 7.2));
      assert.equal(exitCode, 0);
      assert.deepEqual(warned, [
        'note: slower by more than 5 % in 1.json, but not in 2.json: net, 1 thread',
        'note: slower by more than 5 % in 2.json, but not in 1.json: net, 2 threads',
      ]);
      const partial = document({ ms: 10.01 }, { ms: 9, threads: 2, changes: noInterval });
      const open = await gate(t, two(10, 6), partial);
      assert.equal(open.exitCode, 3);
      assert.deepEqual(open.warned, [
        'no verdict, so --fail-above decides nothing about it: net, 2 threads: no interval in 1.json',
      ]);
    });

    test('a model is not cleared by a result that says nothing about it', async (t) => {
      const other = { ms: 1, name: 'other' };
      const slow = document({ ms: 12 }, other);
      for (const [silent, found] of [
        [document({ ms: 12, changes: noInterval }, other), 'no interval'],
        [document(other), 'missing'],
        [document({ ms: 12, changes: { coverage: 0.5 } }, other), 'not compared'],
      ] as const) {
        const before = document({ ms: 10 }, { ms: 1.001, name: 'other' });
        const text = 'no verdict, so --fail-above decides nothing about it: net: slower by more than 5 % in';
        const { exitCode, warned } = await gate(t, before, slow, silent);
        assert.deepEqual([exitCode, warned], [3, [`${text} 1.json, ${found} in 2.json`]]);
        const turned = await gate(t, before, silent, slow);
        assert.deepEqual([turned.exitCode, turned.warned], [3, [`${text} 2.json, ${found} in 1.json`]]);
      }
    });

    test('a model of which the limit would not have been seen passes with a warning', async (t) => {
      const wide = { estimate_low_ms: 9, estimate_high_ms: 11 };
      const { exitCode, warned } = await gate(t, document({ ms: 10, changes: wide }), document({ ms: 10.1 }));
      assert.equal(exitCode, 0);
      assert.match(
        warned.join('\n'),
        /^warning: a model that is slower by 5 % would not have been seen: net \(seen from 1\d\.\d %\); .* quieter machine$/,
      );
    });

    test('a result does not confirm itself', async (t) => {
      const slow = document({ ms: 12 });
      const base = document({ ms: 10 });
      const asked = gate(t, base, slow, slow);
      await assertRefused(asked, 'usage', /^--baseline: .*1\.json and .*2\.json are the same result; /);
      await assertRefused(gate(t, base, base), 'usage', /baseline\.json and .*1\.json are the same result; /);
    });

    test('a result of the same measurements has no verdict, because it says nothing about a change', async (t) => {
      const again = { ...reportWith(10), warnings: [{ cause: 'other_load', message: 'of a second run' }] };
      const { exitCode, warned, printed } = await gate(t, reportWith(10), again);
      assert.equal(exitCode, 3);
      assert.deepEqual(warned, ['no verdict, so --fail-above decides nothing about it: net: no interval in 1.json']);
      assert.match(printed.join('\n'), /^no verdict for net: both sides have the same measurements; .* --fresh /m);
    });

    test('a model that is gone has no verdict', async (t) => {
      const { exitCode, warned } = await gate(
        t,
        document({ ms: 10 }, { ms: 10, name: 'gone' }),
        document({ ms: 10.01 }),
      );
      assert.equal(exitCode, 3);
      assert.deepEqual(warned, ['no verdict, so --fail-above decides nothing about it: gone: missing in 1.json']);
    });
  });

  test('has the warnings of both sides, by name, above the table', async (t) => {
    const message = 'others took 30 % of the time; measure again on a quieter machine';
    const disturbed: Report = { ...reportWith(10), warnings: [{ cause: 'other_load', message }] };
    const json = join(await temporaryFolder(t), 'c.json');
    const { host } = await compare(t, [disturbed, { reports: [disturbed, disturbed] }], ['--export-json', json]);
    const text = host.printed.join('\n');
    assert.match(text, /^warning: .*before\.json: others took 30 %.*\nwarning: .*after\.json: others took .*\n┌/);
    const found = resultFindings(JSON.parse(await readFile(json, 'utf8'))).filter(({ id }) => id === 'other_load');
    assert.deepEqual(
      found.map(({ level, found: what }) => [level, what.replace(/^.*\//, '')]),
      [
        ['warn', 'before.json: others took 30 % of the time'],
        ['warn', 'after.json: others took 30 % of the time'],
      ],
    );
  });

  test('shows what tells rows of one model apart, wherever it names them', async (t) => {
    const folder = await temporaryFolder(t);
    const html = join(folder, 'c.html');
    const svg = join(folder, 'c.svg');
    const on = (threads: number, ms: number): Report => reportWith(ms, { system: { threads } });
    const pair = [{ reports: [on(1, 10), on(2, 6), on(3, 4)] }, { reports: [on(1, 11), on(2, 7)] }] as const;
    const { host } = await compare(t, pair, ['--export-html', html, '--export-svg', svg]);
    const text = host.printed.join('\n');
    assert.match(text, /│ net, 1 thread +│/);
    assert.match(text, /│ net, 2 threads +│/);
    assert.match(text, /^geometric mean over 2 rows: /m);
    assert.match(text, /^only in .*before\.json: net, 3 threads$/m);
    assert.match(text, /│ Conv .*│ net, 1 thread +│/);
    for (const file of [html, svg]) assert.match(await readFile(file, 'utf8'), /net, 1 thread.*net, 2 threads/s);
    assert.match(await readFile(html, 'utf8'), /Of 2 rows: slower: 2\./);
  });

  test('refuses a gate between two machines unless it is asked for, and one that compares nothing', async (t) => {
    const pair = [reportWith(10), reportWith(11, { system: { processor: 'another' } })] as const;
    const asked = compare(t, pair, ['--fail-above', '5']);
    await assertRefused(asked, 'usage', /different machines \(processor\).*--any-machine/);
    assert.equal((await compare(t, pair, ['--fail-above', '5', '--any-machine'])).host.exitCode, 4);
    const partial = comparedReport({}, [modelReport('net', { estimate_ms: 1, coverage: 0.5 })]);
    await assertRefused(
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
      return reportWith(ms, { system: { fingerprint: digit.padEnd(64, digit), threads } });
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
    assert.match((await compared(`${file}#A`, `${file}#b`)).printed.join('\n'), /^only threads differs/m);
    for (const [digits, problem] of [
      ['cccc', 'the document has no system cccc'],
      ['zz', 'the document has no system zz'],
      ['a'.repeat(65), `the document has no system ${'a'.repeat(65)}`],
      ['', 'name a system by the beginning of its fingerprint'],
    ] as const) {
      const message = new RegExp(`#${digits}: ${problem}; it has:\\n {2}.*#aaaaaaaa {2}.*\\n {2}.*#bbbbbbbb {2}`);
      await assertRefused(compared(`${file}#aaaa`, `${file}#${digits}`), 'usage', message);
    }
    await writeFile(file, JSON.stringify({ reports: [on('a', 10, 1), on('ab', 6, 2)] }));
    await assertRefused(compared(`${file}#a`, file), 'usage', /#a: several systems begin with a; it has:\n/);
    await writeFile(join(folder, 'run#2.json'), JSON.stringify(on('a', 10, 1)));
    assert.equal((await compared(join(folder, 'run#2.json'), file)).exitCode, 0);
  });

  test('names both sides where they have no model in common, and what is wrong with a file', async (t) => {
    const other = reportWith(10, { name: 'other' });
    const asked = compare(t, [reportWith(10), other]);
    await assertRefused(asked, 'usage', /before\.json has: net; .*after\.json has: other$/);
    await assertRefused(
      compare(t, [reportWith(10), { a: 1 }]),
      'usage',
      /after\.json: expected a report, found a document with the keys "a"; .*--export-json$/,
    );
    const recipe = { format: 'dlbricks-recipe/2', models: [] };
    await assertRefused(
      compare(t, [recipe, reportWith(10)]),
      'usage',
      /before\.json: expected a report, found a document of the format "dlbricks-recipe\/2"; /,
    );
    await assertRefused(
      compare(t, [reportWith(10), []]),
      'usage',
      /after\.json: expected a report, found JSON that is no object; /,
    );
    await assertRefused(
      compare(t, [reportWith(10), { reports: [{}] }]),
      'usage',
      /reports\.0\.system|reports\[0\]\.system/,
    );
  });
});
