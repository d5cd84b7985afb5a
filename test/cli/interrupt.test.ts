import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Report } from '../../plugins/dlbricks/report/report-schema.js';
import { isRunning, measuringProcessesOf, needsLinux } from '../agent/support/processes.js';
import { until } from '../support/until.js';
import { deadline, type StartOptions } from './support/command.js';
import { planIn, reportIn } from './support/report.js';
import { untilSomethingIsStored } from './support/stored.js';
import { chain, LAYER_CUT, MANY_OPERATORS } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** Number of measurements: one of each brick, and two of the whole model. */
const ALL = MANY_OPERATORS.length + 2;

/** With enough bricks and runs that there is time for an interrupt. */
const SLOW = [...LAYER_CUT, '--runs', '300', '--warmup', '1'] as const;

/** A command in the middle of measuring, and the process that does it. */
async function midway(t: TestContext, options?: StartOptions) {
  const place = await workplaceHere(t);
  const model = await place.write('many.onnx', chain(MANY_OPERATORS));
  const args = ['dlbricks', 'validate', model, ...SLOW, '--export-json', 'report.json'];
  const command = place.start(args, options);
  await untilSomethingIsStored(place);
  return { place, args, command, measuring: measuringProcessesOf(command.pid) };
}

async function assertGone(pids: readonly number[]): Promise<void> {
  assert.notDeepEqual(pids, [], 'nothing was measured');
  await until(() => !pids.some(isRunning));
}

describe('a command that is stopped while it measures', { ...deadline, skip: needsLinux, concurrency: 2 }, () => {
  it('by kill -9 leaves no process behind, and the next one continues', async (t) => {
    const { place, args, command, measuring } = await midway(t);
    command.process.kill('SIGKILL');
    await assertGone(measuring);
    await command.ended;
    const next = await place.run([...args.slice(0, -1), '-']);
    const { toMeasure, known } = planIn(next);
    assert(known >= 1 && toMeasure >= 1, `${known} known, ${toMeasure} to measure`);
    assert.equal(known + toMeasure, ALL);
    assert.equal(next.code, 0);
    assert.equal(reportIn(next).models[0]?.coverage, 1);
  });

  const stops: readonly (readonly [name: string, signal: NodeJS.Signals, ownGroup: boolean])[] = [
    ['by an interrupt', 'SIGINT', false],
    ['by an interrupt of the whole process group, as a terminal sends it', 'SIGINT', true],
    ['by a request to terminate', 'SIGTERM', false],
  ];
  for (const [name, signal, ownGroup] of stops) {
    it(`${name} shows its results so far, keeps them, and says so`, async (t) => {
      const { place, command, measuring } = await midway(t, { ownGroup });
      process.kill(ownGroup ? -command.pid : command.pid, signal);
      const ending = await command.ended;
      assert.equal(ending.code, 130);
      // Without any number there is no table.
      assert.match(ending.stdout, /^$|│ many +│ +(part: )?\d+\.\d+ ±/);
      assert.doesNotMatch(ending.stdout, /│ many +│ +-/);
      assert.match(ending.stderr, /^interrupted; everything measured so far is kept, and the same command continues/m);
      await assertGone(measuring);
      const shown = JSON.parse(await readFile(place.path('report.json'), 'utf8')) as Report;
      const composed = await place.run(['dlbricks', 'compose', 'many.onnx', ...SLOW, '--export-json', '-']);
      assert.equal(reportIn(composed).models[0]?.coverage, shown.models[0]?.coverage);
    });
  }

  it('says that it wrote no export where it has no result', async (t) => {
    const place = await workplaceHere(t);
    await place.write('many.onnx', chain(MANY_OPERATORS));
    const manifest = { dlspec: 'evaluation/v1', name: 'many', version: '1.0.0', models: ['many.onnx'] };
    await place.write('many.yml', JSON.stringify({ ...manifest, settings: { cut: 'layer' } }));
    const command = place.start(['evaluate', 'many.yml', '--export-json', 'result.json']);
    await untilSomethingIsStored(place);
    command.process.kill('SIGINT');
    const { stderr, code } = await command.ended;
    assert.equal(code, 130);
    assert.match(stderr, /^interrupted; everything measured so far is kept; no export was written$/m);
    assert.equal(existsSync(place.path('result.json')), false);
  });

  it('tells a peak that it did not come to from one that the runtime refused', async (t) => {
    const place = await workplaceHere(t);
    const command = place.start(['machine']);
    await untilSomethingIsStored(place);
    command.process.kill('SIGINT');
    const { stdout, stderr, code } = await command.ended;
    assert.equal(code, 130);
    assert.match(stderr, /^interrupted; everything measured so far is kept, and the same command continues/m);
    assert.match(stdout, /not measured: the run was interrupted/);
    assert.doesNotMatch(stdout, /refused/);
  });

  it('by two interrupts leaves no process behind either', async (t) => {
    const { command, measuring } = await midway(t);
    command.process.kill('SIGINT');
    await setTimeout(1);
    command.process.kill('SIGINT');
    assert.equal((await command.ended).code, 130);
    await assertGone(measuring);
  });
});

describe('a command that is stopped', deadline, () => {
  it('a second time does not wait for anything', async (t) => {
    const place = await workplaceHere(t);
    const silent = createServer().listen(0, '127.0.0.1');
    t.after(() => silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const command = place.start(['registry', 'agents', '--agent', `127.0.0.1:${port}`]);
    await once(silent, 'connection');
    command.process.kill('SIGINT');
    await setTimeout(100);
    assert.equal(command.process.exitCode, null, 'it was not waiting');
    command.process.kill('SIGINT');
    assert.deepEqual(await command.ended, { stdout: '', stderr: '', code: 130 });
  });

  it('while an import waits for standard input waits no longer', async (t) => {
    const place = await workplaceHere(t);
    execFileSync('mkfifo', [place.path('input')]);
    // Opened for both directions, a pipe waits without a writer, and has no end.
    const through = ['sh', '-c', 'exec "$0" "$@" <> input'];
    const command = place.start(['store', 'import', '-'], { through });
    await until(() => existsSync(join(place.store, 'data.mdb')));
    command.process.kill('SIGINT');
    assert.deepEqual(await command.ended, { stdout: '', stderr: 'interrupted\n', code: 130 });
  });

  it('while it builds a zoo model leaves no incomplete file', async (t) => {
    const place = await workplaceHere(t);
    const folder = place.path('cache', 'zoo', 'v1');
    const command = place.start(['zoo', 'alexnet']);
    await until(() => existsSync(folder) && readdirSync(folder).length > 0);
    command.process.kill('SIGINT');
    assert.deepEqual(await command.ended, { stdout: '', stderr: 'interrupted\n', code: 130 });
    assert.deepEqual(readdirSync(folder), []);
  });
});
