// Times the first page of the site with a store of a million measurements, and the memory of followers.
import { spawn } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepEstimates } from '../src/measuring/estimates.js';
import { openEmbeddedStore } from '../src/store/embedded/open.js';
import type { ResultStore } from '../src/store/result-store.js';
import { withTemporaryFolder } from '../test/onnx/temporary-folder.js';
import { scripted } from '../test/server/scripted-evaluation.js';
import { newEstimate, siteServing } from '../test/server/site-server.js';
import { sampleMeasurement, sampleSystem } from '../test/store/sample-measurement.js';

const MEASUREMENTS = Number(process.argv[2] ?? 1_000_000);
const [MODELS, SYSTEMS, FOLLOWERS, EVENTS] = [100, 20, 100, 200];
const FILLING = 5000;

/** Opens streams, and says when each has had an event; ends with its standard input. */
const FOLLOWER = `const http = require('node:http'); let open = 0, events = 0;
for (let n = 0; n < ${FOLLOWERS}; n++) http.get(process.argv[1], { agent: false }, (answer) => {
  let first = true;
  answer.on('data', (bytes) => { events += String(bytes).split('event: evaluation').length - 1;
    if (first && (first = false, ++open) === ${FOLLOWERS}) console.log('open'); });
  answer.on('end', () => { if (--open === 0) { console.log('events ' + events); process.exit(); } });
});`;

async function fill(store: ResultStore): Promise<void> {
  const outcome = { kind: 'samples' as const, runMs: [1, 1.1, 1.2, 1.1, 1], warmupMs: [1.5] };
  for (let first = 0; first < MEASUREMENTS; first += FILLING) {
    const some = Array.from({ length: Math.min(FILLING, MEASUREMENTS - first) }, (_, index) =>
      store.putMeasurement(sampleMeasurement(first + index, { outcome })),
    );
    await Promise.all(some);
  }
  for (let system = 0; system < SYSTEMS; system++) {
    const of = sampleSystem({ processor: `Processor ${system}`, cores: 4 + system });
    const estimates = Array.from({ length: MODELS }, (_, model) =>
      newEstimate({ model: `model_${model}`, latencyMs: 1 + model + system / 100 }),
    );
    await keepEstimates(store, of, estimates);
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return (performance.now() - before) / 1000;
}

await withTemporaryFolder(async (folder) => {
  const store = await openEmbeddedStore(folder, {});
  const undo: (() => unknown)[] = [];
  console.log(
    `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${new Date().toISOString()}`,
  );
  console.log(`filled in ${(await timed(() => fill(store))).toFixed(0)} s: ${MEASUREMENTS} measurements`);
  const { url, attach } = await siteServing({ after: (done) => void undo.push(done) }, { store });
  let bytes = 0;
  const page = async (): Promise<void> => void (bytes = (await (await fetch(url)).text()).length);
  await fetch(`${url}/login`);
  const seconds = [];
  for (let times = 0; times < 3; times++) {
    seconds.push(await timed(page));
    await sleep(2500);
  }
  console.log(
    `${MODELS} models x ${SYSTEMS} systems: ${seconds.map((one) => one.toFixed(3)).join(', ')} s, ${bytes} bytes`,
  );
  const [brick] = await Promise.all([timed(() => fetch(`${url}/bricks/${sampleMeasurement(7).signature}`))]);
  console.log(`page of a brick: ${brick?.toFixed(3)} s`);

  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await attach(
    scripted(async function* () {
      yield { kind: 'note', level: 'info', message: 'waiting for followers' };
      await held;
      for (let index = 0; index < EVENTS; index++) {
        yield { kind: 'note', level: 'info', message: `note ${index}: ${'a'.repeat(200)}` };
      }
      yield { kind: 'done', result: {}, partial: false };
    }),
  );
  const manifest = { dlspec: 'evaluation/v1', name: 'f', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };
  const body = JSON.stringify({ id: 'followed-by-many', manifest });
  await fetch(`${url}/api/v1/evaluations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await sleep(1000);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  const child = spawn(process.execPath, ['-e', FOLLOWER, `${url}/api/v1/evaluations/followed-by-many/events`]);
  child.stdout.on('data', (text: Buffer) => {
    if (String(text).startsWith('open')) release();
    else console.log(`${FOLLOWERS} followers: ${String(text).trim()}`);
  });
  await new Promise((resolve) => child.on('exit', resolve));
  clearInterval(watch);
  console.log(
    `memory: ${((most - before) / 2 ** 20).toFixed(0)} MiB more at most, ${(most / 2 ** 20).toFixed(0)} MiB in all`,
  );
  for (const done of undo.reverse()) await done();
});
process.exit();
