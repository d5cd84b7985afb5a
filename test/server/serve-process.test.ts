import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import { exists, needsLinux } from '../agent/support/processes.js';
import { until } from '../support/until.js';
import type { Running, Workplace } from '../cli/support/command.js';
import { findingsIn, planIn, reportIn } from '../cli/support/report.js';
import { untilSomethingIsStored } from '../cli/support/stored.js';
import { chain, FOUR_LAYERS, MANY_OPERATORS, TINY_EVALUATION } from '../cli/support/tiny-models.js';
import { workplaceHere } from '../cli/support/workplace-here.js';
import { freePort } from '../support/free-port.js';

/** Against hanging only, for all of a suite's tests together. */
const deadline = { timeout: 600_000 };

/** dlbricks, latency and load. */
const PLUGINS = 3;

/** A plugin that does not end is killed after this time. Source: src/cli/plugin-processes.ts. */
const KILL_MS = 8000;

function childrenOf(parent: number): readonly number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
}

/** Writes an evaluation of one small model. */
async function evaluation(
  place: Workplace,
  changes: Readonly<Record<string, unknown>> = {},
  operators: readonly string[] = FOUR_LAYERS,
): Promise<string> {
  await place.write('net.onnx', chain(operators));
  return place.write('evaluation.yml', JSON.stringify({ ...TINY_EVALUATION, ...changes }));
}

async function addressOf(server: Running): Promise<string> {
  const [, address = ''] = await server.said(/server listening on (127\.0\.0\.1:\d+)/);
  return address;
}

/** A server, plugins and an agent, each a process of its own. */
async function processes(place: Workplace, ...plugins: readonly string[]) {
  const server = place.start(['serve', '--listen', `127.0.0.1:${await freePort()}`, '--no-plugins']);
  const address = await addressOf(server);
  const attached = plugins.map((plugin) => place.start(['plugin', plugin, '--server', address]));
  const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', address]);
  await Promise.all([agent.said(/registered with/), ...attached.map((plugin) => plugin.said(/plugin \w+ registered/))]);
  return { server, address, agent };
}

/** A place with a server, all plugins and an agent, for all tests of a suite. */
function platformForSuite() {
  const undone: (() => unknown)[] = [];
  let platform: { readonly place: Workplace; readonly address: string } | undefined;
  before(async () => {
    const place = await workplaceHere({ after: (undo) => void undone.unshift(undo) });
    platform = { place, ...(await processes(place, 'dlbricks', 'latency')) };
  });
  after(async () => {
    for (const undo of undone) await undo();
  });
  return () => platform ?? assert.fail('only inside of a test');
}

interface Report {
  readonly models: readonly { readonly estimate_ms: number }[];
}

/** A written report as if it had been printed. */
async function printed(place: Workplace, name: string): Promise<{ readonly stdout: string }> {
  return { stdout: await readFile(place.path(name), 'utf8') };
}

async function idOf(place: Workplace, args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await place.run(args);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

describe('an evaluation by server, plugin and agent in processes of their own', deadline, () => {
  const platform = platformForSuite();

  it('has the plan and the estimate of `dlbricks run`', async () => {
    const { place, address } = platform();
    const manifest = await evaluation(place);
    const here = await place.run(['dlbricks', 'run', manifest, '--export-json', 'here.json']);
    assert.equal(here.code, 0, here.stderr);

    const there = await place.run(['evaluate', manifest, '--server', address, '--export-json', 'there.json']);
    assert.equal(there.code, 0, there.stderr);
    const { toMeasure, known } = planIn(here);
    assert.deepEqual(planIn(there), { toMeasure: 0, known: toMeasure + known });
    assert.deepEqual(findingsIn(await printed(place, 'there.json')), findingsIn(await printed(place, 'here.json')));

    const local = await place.run(['evaluate', manifest, '--export-json', 'local.json']);
    assert.equal(local.code, 0, local.stderr);
    assert.deepEqual(findingsIn(await printed(place, 'local.json')), findingsIn(await printed(place, 'here.json')));
  });

  it('continues without a model that cannot be read, as `dlbricks run` does', async () => {
    const { place, address } = platform();
    await place.write('damaged.onnx', Uint8Array.of(0x08, 0x08, 0x3a, 0x7f));
    const manifest = await evaluation(place, { models: ['damaged.onnx', 'net.onnx'] });
    const here = await place.run(['dlbricks', 'run', manifest, '--export-json', 'here.json']);
    const there = await place.run(['evaluate', manifest, '--server', address, '--export-json', 'there.json']);
    for (const { code, stderr } of [here, there]) {
      assert.equal(code, 3, stderr);
      assert.match(stderr, /^warning: damaged: .*damaged\.onnx/m);
    }
    const findings = findingsIn(await printed(place, 'there.json'));
    assert.deepEqual(findings, findingsIn(await printed(place, 'here.json')));
    assert.deepEqual(
      findings.models.map(({ name, coverage }) => [name, coverage]),
      [
        ['net', 1],
        ['damaged', 0],
      ],
    );
  });

  it('can be detached, listed, shown and followed', async () => {
    const { place, address } = platform();
    const manifest = await evaluation(place);
    const server = ['--server', address];
    const id = await idOf(place, ['evaluate', manifest, '--detach', ...server]);
    const followed = await place.run(['evaluations', 'follow', id, ...server]);
    assert.match(followed.stdout, /│ net +│ +\d+\.\d+ ± /);
    assert.match(followed.stdout, /^\d+ layers in 1 model(, run as \d+ kernels)?; \d+ different ones? \(bricks?\)$/m);
    assert.match(
      (await place.run(['evaluations', 'list', ...server])).stdout,
      new RegExp(`│ ${id.slice(0, 8)} │ tiny │ dlbricks │ done`),
    );
    const asJson = await place.run(['evaluations', 'show', id, '--json', '--export-csv', 'shown.csv', ...server]);
    assert.match((await printed(place, 'shown.csv')).stdout, /^name,.*\r\nnet,/);
    const shown = JSON.parse(asJson.stdout) as {
      readonly state: string;
      readonly result: Report;
    };
    assert.equal(shown.state, 'done');
    // The same for an evaluation that has ended, named by its first digits, as a table and as exports.
    const ended = await place.run(['evaluations', 'show', id.slice(0, 8), '--export-csv', 'ended.csv', ...server]);
    assert.equal(
      ended.stdout.slice(ended.stdout.indexOf('│ model')),
      followed.stdout.slice(followed.stdout.indexOf('│ model')),
    );
    assert.match(
      (await printed(place, 'ended.csv')).stdout,
      /^name,layers,.*,system,threads,batch,dimensions,tokens_per_second,settings,.*\r\nnet,/,
    );
    const latest = await place.run(['evaluations', 'follow', 'latest', '--export-markdown', '-', ...server]);
    assert.match(latest.stdout, /^\| model \| batch \| threads \|/m);
    assert.ok((shown.result.models[0]?.estimate_ms ?? 0) > 0);
  });

  it('continues after its server was killed and started again, and measures nothing twice', async (t) => {
    const place = await workplaceHere(t);
    const protocol = { warmup_runs: 1, runs: 500, min_runs: 500 };
    const manifest = await evaluation(place, { protocol }, MANY_OPERATORS);
    const { server, address } = await processes(place, 'dlbricks');
    const follower = place.start(['evaluate', manifest, '--server', address, '--export-json', 'report.json']);
    await untilSomethingIsStored(place);
    server.process.kill('SIGKILL');
    await server.ended;
    const again = place.start(['serve', '--listen', address, '--no-plugins']);
    await addressOf(again);
    const { stderr, code } = await follower.ended;
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /waiting: the server was restarted; everything measured so far is kept \(with `remeasure: all`, it/,
    );
    const known = [...stderr.matchAll(/ (\d+) known already/g)].map(([, count]) => Number(count));
    assert.ok(known.length === 2 && known[0] === 0 && (known[1] ?? 0) > 0, stderr);
    assert.equal(reportIn(await printed(place, 'report.json')).models.length, 1);
  });

  it('continues on the server after Ctrl-C, and ends when it is cancelled', async () => {
    const { place, address } = platform();
    const protocol = { warmup_runs: 1, runs: 5000, min_runs: 5000 };
    const server = ['--server', address];
    const manifest = await evaluation(place, { protocol }, MANY_OPERATORS);
    const follower = place.start(['evaluate', manifest, ...server]);
    await follower.said(/measurements to take/);
    follower.process.kill('SIGINT');
    const { stderr, code } = await follower.ended;
    assert.equal(code, 130);
    const [, id] = /^evaluation (\S+) continues; `mlmodelscope evaluations follow /m.exec(stderr) ?? [];
    assert.ok(id !== undefined, stderr);
    assert.match(
      (await place.run(['evaluations', 'list', ...server])).stdout,
      new RegExp(`${id.slice(0, 8)} .* running`),
    );
    const cancelled = await place.run(['evaluations', 'cancel', id, ...server]);
    assert.equal(cancelled.stdout, 'cancelled\n', cancelled.stderr);
    const followed = await place.run(['evaluations', 'follow', id, ...server]);
    assert.match(followed.stderr, /the evaluation was cancelled/);
    assert.equal(followed.code, 130);
  });

  it('waits for another agent if the only one was killed, and keeps its place in the queue', async (t) => {
    const place = await workplaceHere(t);
    const { address, agent } = await processes(place, 'dlbricks');
    const server = ['--server', address];
    const protocol = { warmup_runs: 1, runs: 5000, min_runs: 5000 };
    const long = await evaluation(place, { protocol }, MANY_OPERATORS);
    const running = place.start(['evaluate', long, ...server]);
    await running.said(/measurements to take/);
    const short = await evaluation(place);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push(await idOf(place, ['evaluate', short, '--detach', ...server]));
    const followers = ids.map((id) => place.start(['evaluations', 'follow', id, ...server]));
    agent.process.kill('SIGKILL');
    for (const one of [running, ...followers])
      await one.said(/waiting: no agent that meets the constraints can be reached/);

    place.start(['agent', '--listen', '127.0.0.1:0', ...server]);
    const ends = await Promise.all([running, ...followers].map(({ ended }) => ended));
    for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
    const client = connectEvaluations(address);
    t.after(() => client.close());
    const records = await client.list(1 + ids.length);
    const ended = records.toSorted((one, other) => one.changedAt.localeCompare(other.changedAt)).map(({ id }) => id);
    assert.deepEqual(ended.slice(1), ids);
  });

  it('of the latency plugin times whole models', async () => {
    const { place, address } = platform();
    const manifest = await evaluation(place, { plugin: 'latency', settings: { percentiles: [50], remeasure: 'none' } });
    const { stdout, code, stderr } = await place.run(['evaluate', manifest, '--server', address, '--json']);
    assert.equal(code, 0, stderr);
    const { models } = JSON.parse(stdout) as { models: [{ model: string; runs: number; latency_ms: { p50: number } }] };
    assert.deepEqual([models[0].model, models[0].runs], ['net', 5]);
    assert.ok(models[0].latency_ms.p50 > 0);
  });
});

describe('mlmodelscope serve', { ...deadline, skip: needsLinux }, () => {
  it('runs its plugins itself, starts one again that ends, and leaves no process behind', async (t) => {
    const place = await workplaceHere(t);
    const server = place.start(['serve', '--listen', '127.0.0.1:0']);
    const address = await addressOf(server);
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', address]);
    await agent.said(/registered with/);
    const manifest = await evaluation(place);
    const args = ['evaluate', manifest, '--server', address];
    const { code, stderr } = await place.run(args);
    assert.equal(code, 0, stderr);
    const [plugin] = childrenOf(server.pid);
    assert.ok(plugin !== undefined);
    process.kill(plugin, 'SIGKILL');
    await server.said(/warning: the plugin \w+ ended; it is started again/);
    await until(() => childrenOf(server.pid).length === PLUGINS);
    const children = childrenOf(server.pid);
    server.process.kill('SIGKILL');
    await server.ended;
    await until(() => children.every((pid) => !exists(pid)));
  });

  it('ends with its plugins on SIGTERM', async (t) => {
    const place = await workplaceHere(t);
    const server = place.start(['serve', '--listen', '127.0.0.1:0']);
    await addressOf(server);
    await until(() => childrenOf(server.pid).length === PLUGINS);
    const children = childrenOf(server.pid);
    const startMs = performance.now();
    server.process.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.ok(performance.now() - startMs < KILL_MS, 'the plugins had to be killed');
    assert.ok(children.every((pid) => !exists(pid)));
  });

  it('ends if it cannot listen', async (t) => {
    const place = await workplaceHere(t);
    const first = place.start(['serve', '--listen', '127.0.0.1:0', '--no-plugins']);
    const { code, stderr } = await place.run(['serve', '--listen', await addressOf(first), '--no-plugins']);
    assert.equal(code, 1);
    assert.match(stderr, /cannot listen on .*; choose another address/);
  });

  it('says what is missing if no plugin can run an evaluation', async (t) => {
    const place = await workplaceHere(t);
    const server = place.start(['serve', '--listen', '127.0.0.1:0', '--no-plugins']);
    const address = await addressOf(server);
    const { code, stderr } = await place.run(['evaluate', await evaluation(place), '--server', address]);
    assert.equal(code, 1);
    assert.match(stderr, /the plugin dlbricks is not attached to this server, nor is any other; start it with/);
  });
});
