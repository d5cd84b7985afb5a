import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { assertEndsOnce } from '../../torture/checks/ends-once.js';
import { isRunning, measuringProcessesOf, residentBytes } from '../agent/support/processes.js';
import type { Running } from '../cli/support/command.js';
import { onDisk, unlessMounts } from '../cli/support/small-disk.js';
import { chain, largeInside, MANY_OPERATORS } from '../cli/support/tiny-models.js';
import { startTracingServer } from '../platform-documents/support/tracing-server.js';
import { until } from '../support/until.js';
import {
  enginesForSuite,
  needsPlatform,
  queuedPlatform,
  stopWhole,
  submissionOf,
  told,
  untilUnderWay,
} from './queued-platform.js';

/** Against hanging only, for all tests together. */
const deadline = { timeout: 900_000 };
const ID = 'evaluation-1';

/** The number of bricks, each of one layer. */
const BRICKS = MANY_OPERATORS.length;

/** So many runs that a brick takes about a second: the evaluation takes longer than it takes to stop a database. */
const MANY_RUNS = 3000;

/** More memory than a process needs that measures one of the small bricks. */
const LARGE_BYTES = 256 * 2 ** 20;

/** The time between two looks at processes, far less than the large brick takes. */
const LOOK_MS = 20;

/** The path of the library of Debian's package faketime, for programs with threads. */
function fakeTime(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  const paths = folders.map((folder) => join('/usr/lib', folder, 'faketime/libfaketimeMT.so.1'));
  return paths.find((path) => existsSync(path));
}

/**
 * Crashes each process of these agents that measures something large.
 *
 * @returns a function that gives the number of crashes
 */
function crashingWhatIsLarge(t: TestContext, agents: readonly Running[]): () => number {
  let crashes = 0;
  const timer = setInterval(() => {
    for (const pid of agents.flatMap((agent) => measuringProcessesOf(agent.pid))) {
      if (isRunning(pid) && residentBytes(pid) > LARGE_BYTES && process.kill(pid, 'SIGSEGV')) crashes++;
    }
  }, LOOK_MS);
  t.after(() => clearInterval(timer));
  return () => crashes;
}

describe('a platform whose agents take work from a broker', { ...deadline, ...needsPlatform }, () => {
  const engines = enginesForSuite();

  it('finishes an evaluation whose server is killed, with another server', async (t) => {
    const platform = await queuedPlatform(t, engines());
    const first = await platform.startServer();
    const second = await platform.startServer();
    const agents = [await platform.startAgent([first, second]), await platform.startAgent([first, second])];
    await first.client.submit(ID, submissionOf(chain(MANY_OPERATORS), { runs: MANY_RUNS }));
    await untilUnderWay(first, ID);
    first.server.process.kill('SIGKILL');
    const story = await told(second, ID);
    assertEndsOnce(story);
    assert.equal(story.filter(({ event }) => event.kind === 'started').length, 2);
    assert.equal((await stopWhole(platform, [second.server, ...agents])).length, BRICKS);
  });

  it('continues if results cannot be kept while the database is away, because the disk is full', async (t) => {
    const reason = unlessMounts();
    if (reason !== false) return t.skip(reason);
    const platform = await queuedPlatform(t, engines());
    const full = { through: onDisk('4k', 'XDG_DATA_HOME'), env: { XDG_DATA_HOME: platform.place.path('data') } };
    const server = await platform.startServer(full);
    const agent = await platform.startAgent([server], full);
    await server.client.submit(ID, submissionOf(chain(MANY_OPERATORS), { runs: MANY_RUNS }));
    await untilUnderWay(server, ID);
    await engines().database.signal('SIGTERM');
    try {
      // The agent may first wait until the machine is free, for as long as other tests measure. Between two bricks, it has
      // nothing to keep, and waits for the database alone.
      await agent.said(/its disk has \d+ KiB left.*results cannot be kept on this machine|has not answered for \d+ s/s);
    } finally {
      await engines().database.start();
    }
    assertEndsOnce(await told(server, ID));
    assert.equal((await stopWhole(platform, [server.server, agent])).length, BRICKS);
  });

  it('works with agents whose clocks are an hour off', async (t) => {
    const library = fakeTime();
    if (library === undefined) return t.skip("needs libfaketime, of Debian's package faketime");
    const platform = await queuedPlatform(t, engines());
    const server = await platform.startServer();
    const agents = await Promise.all(
      ['+3600', '-3600'].map((FAKETIME) => {
        const env = { LD_PRELOAD: library, FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
        return platform.startAgent([server], { env });
      }),
    );
    await server.client.submit(ID, submissionOf(chain(MANY_OPERATORS)));
    assertEndsOnce(await told(server, ID));
    const stored = await stopWhole(platform, [server.server, ...agents]);
    assert.equal(stored.length, BRICKS);
    // Both took part: the times of their measurements are two hours apart.
    const times = stored.map(({ measuredAt }) => new Date(measuredAt).getTime()).sort((a, b) => a - b);
    assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) > 3_600_000);
  });

  it('lets one of two agents on a machine measure at a time, and measures each brick once', async (t) => {
    const platform = await queuedPlatform(t, engines());
    const { env, spans } = await startTracingServer(t);
    const server = await platform.startServer({ env });
    const agents = [1, 2].map(() => platform.startAgent([server], { env }));
    const started = await Promise.all(agents);
    await server.client.submit(ID, submissionOf(chain(MANY_OPERATORS)));
    assertEndsOnce(await told(server, ID));
    const sessions = () => spans.filter(({ name, attributes }) => name === 'measure' && 'process.pid' in attributes);
    await until(() => sessions().length >= BRICKS);
    assert.equal((await stopWhole(platform, [server.server, ...started])).length, BRICKS);
    const inOrder = sessions().sort((a, b) => Number(a.startNs - b.startNs));
    assert.equal(inOrder.length, BRICKS);
    assert.ok(new Set(inOrder.map(({ attributes }) => attributes['process.pid'])).size > 1);
    for (const [index, { startNs }] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (before === undefined) continue;
      // Processes read the wall clock once each, not to the microsecond.
      const overlap = Number(before.endNs - startNs) / Number(before.endNs - before.startNs);
      assert.ok(overlap < 0.1, `a measurement began in the last ${(overlap * 100).toFixed(0)} % of another one`);
    }
  });

  it('names the brick that ends the runtime of every agent, and measures all others', async (t) => {
    const platform = await queuedPlatform(t, engines());
    const server = await platform.startServer();
    const agents = [await platform.startAgent([server]), await platform.startAgent([server])];
    const crashes = crashingWhatIsLarge(t, agents);
    await server.client.submit(ID, submissionOf(largeInside(), { granularity: 2 }));
    const story = await told(server, ID);
    assert.equal(story.at(-1)?.event.kind, 'done');
    const warnings = story.flatMap(({ event }) => {
      return event.kind === 'note' && event.level === 'warning' ? [event.message] : [];
    });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /Expand.*: crashed: the worker process ended by signal SIGSEGV/);
    assert.ok(crashes() > 0);
    const stored = await stopWhole(platform, [server.server, ...agents]);
    const outcomes = stored.map(({ outcome }) => (outcome.kind === 'failure' ? outcome.reason : outcome.kind));
    assert.deepEqual(outcomes.sort(), ['crashed', 'samples', 'samples']);
  });
});
