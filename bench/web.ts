// Times the first page of the site with a store of a million measurements, measures the memory of followers, and the size
// and the opening of pages from files in a browser.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { reportPage } from '../plugins/dlbricks/report/report-page.js';
import { reportResult } from '../plugins/dlbricks/report/show-report.js';
import { buildReport } from '../plugins/dlbricks/report/report.js';
import { keepEstimates } from '../src/measuring/estimates.js';
import { openEmbeddedStore } from '../src/store/embedded/open.js';
import { htmlPage } from '../src/web/page.js';
import { withTemporaryFolder } from '../test/onnx/temporary-folder.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from '../test/plugins/dlbricks/report/sample-result.js';
import { newEstimate } from '../test/server/site-server.js';
import { sampleMeasurement, sampleSystem, signatureOf } from '../test/store/sample-measurement.js';
import { launch } from '../test/web/support/chromium.js';

/** The store stays in its folder, and is filled up to so many. */
const [STORE = 'out/bench-web', MEASUREMENTS = '1000000', QUICK_START = 'out/screenshots/quickstart.html'] =
  process.argv.slice(2);
const MODELS = 100;
const SYSTEMS = 20;
const FOLLOWERS = 100;
const BRICKS = 100;
const FILLING = 5000;
const TIMES = 5;

/** A browser opens at most six connections to a server for all pages of one context. */
const PAGES_OF_CONTEXT = 5;

async function fill(): Promise<void> {
  const store = await openEmbeddedStore(STORE, {});
  const stored = (await store.countSystems()).reduce((sum, { measurements }) => sum + measurements, 0);
  const outcome = { kind: 'samples' as const, runMs: [1, 1.1, 1.2, 1.1, 1], warmupMs: [1.5] };
  for (let first = stored; first < Number(MEASUREMENTS); first += FILLING) {
    const some = Array.from({ length: Math.min(FILLING, Number(MEASUREMENTS) - first) }, (_, index) =>
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
  await store.close();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return (performance.now() - before) / 1000;
}

async function several(work: () => Promise<unknown>, pauseMs = 0): Promise<string> {
  const seconds: string[] = [];
  for (let times = 0; times < TIMES; times++) {
    seconds.push((await timed(work)).toFixed(3));
    await sleep(pauseMs);
  }
  return `${seconds.join(', ')} s`;
}

async function bytesOf(server: ChildProcess, message: 'settle' | 'most'): Promise<number> {
  server.send(message);
  const [{ bytes }] = (await once(server, 'message')) as [{ bytes: number }];
  return bytes;
}

async function benchSite(): Promise<void> {
  const server = fork(join(import.meta.dirname, 'web-server.js'), [STORE], { execArgv: ['--expose-gc'] });
  const [{ url }] = (await once(server, 'message')) as [{ url: string }];
  let bytes = 0;
  const page = async (): Promise<void> => void (bytes = (await (await fetch(url)).text()).length);
  await fetch(`${url}/login`);
  // Longer than visitors share one read of the estimates.
  const seconds = await several(page, 2500);
  console.log(`${MODELS} models x ${SYSTEMS} systems: ${seconds}, ${bytes} bytes`);
  console.log(`page of a brick: ${await several(() => fetch(`${url}/bricks/${signatureOf(7)}`))}`);
  const manifest = { dlspec: 'evaluation/v1', name: 'f', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };
  const body = JSON.stringify({ id: 'followed-by-many', manifest });
  await fetch(`${url}/api/v1/evaluations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await sleep(1000);
  const before = await bytesOf(server, 'settle');
  const browser = await launch();
  const pages: Page[] = [];
  while (pages.length < FOLLOWERS) {
    const context = await browser.newContext();
    for (let page = 0; page < PAGES_OF_CONTEXT; page++) pages.push(await context.newPage());
  }
  const shown = (text: string) => (followers: readonly Page[]) =>
    Promise.all(followers.map((each) => each.getByText(text).first().waitFor({ timeout: 180_000 })));
  for (const each of pages) await each.goto(`${url}/evaluations/followed-by-many`);
  await shown('waiting for followers')(pages);
  server.send('release');
  console.log(
    `${FOLLOWERS} followers in browsers: last event after ${(await timed(() => shown('note 199')(pages))).toFixed(1)} s`,
  );
  await browser.close();
  const most = await bytesOf(server, 'most');
  const [more, all] = [most - before, most].map((one) => (one / 2 ** 20).toFixed(0));
  console.log(`memory of the server: ${more} MiB more at most, ${all} MiB in all`);
  server.kill();
  await once(server, 'exit');
}

function largePage(): string {
  const models = Array.from({ length: MODELS }, (_, model) => {
    const parts = Array.from({ length: BRICKS }, (_, brick) => ({
      signature: signatureOf(model * BRICKS + brick),
      benchmark: signatureOf(model * BRICKS + brick),
      operators: [['Conv', 'Relu', 'Gemm', 'Add', 'Concat'][brick % 5] ?? ''],
      count: 1 + (brick % 3),
      onPath: 1,
      measured: { way: 'together' as const },
      ms: 0.01 * (1 + brick),
      occasions: 2,
      processes: [],
      tried: 2,
      runs: 32,
      costMs: 10,
    }));
    const endToEnd = endToEndOf(model, 10, 5000, 10.4);
    return { estimate: estimateOf(`model_${model}`, 10 + model, { parts }), endToEnd };
  });
  const reports = [buildReport(resultOf(models), SETTINGS)];
  return htmlPage([{ result: () => reportResult(reports), page: () => reportPage(reports) }]);
}

/** How long a page takes from its navigation until it is drawn. */
async function benchPage(name: string, path: string): Promise<void> {
  const browser = await launch();
  const seconds: string[] = [];
  for (let times = 0; times < TIMES; times++) {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(resolve(path)).href);
    const drawnMs = await page.evaluate<number>(
      'new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))',
    );
    seconds.push((drawnMs / 1000).toFixed(3));
    await page.close();
  }
  await browser.close();
  console.log(`${name}: ${(await readFile(path)).length} bytes, opens in ${seconds.join(', ')} s`);
}

console.log(`${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${new Date().toISOString()}`);
console.log(`filled in ${(await timed(fill)).toFixed(0)} s up to ${MEASUREMENTS} measurements`);
await benchSite();
if (existsSync(QUICK_START)) await benchPage("the quick start's page", QUICK_START);
await withTemporaryFolder(async (folder) => {
  const path = join(folder, 'large.html');
  console.log(
    `${MODELS} models with ${MODELS * BRICKS} bricks made in ${await several(() => writeFile(path, largePage()))}`,
  );
  await benchPage('their page', path);
});
