// Takes the pictures of docs, and the same pages at other widths and in both colors to look at.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { currentEstimates } from '../src/measuring/estimates.js';
import { startServer } from '../src/server/server.js';
import { openEmbeddedStore } from '../src/store/embedded/open.js';
import { launch } from '../test/web/support/chromium.js';

const [made = 'out/screenshots', pictures = 'docs/pictures'] = process.argv.slice(2);

/** Those that docs show: they have no latencies, which depend on the load of the machine. */
const IN_DOCS = new Set(['share']);

/** The picture of docs, and others to look at. */
const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 360, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
  { width: 2560, colorScheme: 'light' },
  { width: 2560, colorScheme: 'dark' },
] as const;

const HEIGHT = 900;

async function shoot(browser: Browser, name: string, address: string): Promise<void> {
  for (const [index, { width, colorScheme }] of LOOKS.entries()) {
    const context = await browser.newContext({ viewport: { width, height: HEIGHT }, colorScheme });
    const page = await context.newPage();
    await page.goto(address);
    await page.screenshot({ path: join(made, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    if (index === 0 && IN_DOCS.has(name)) await page.screenshot({ path: join(pictures, `${name}.png`) });
    await context.close();
  }
}

await mkdir(pictures, { recursive: true });
const store = await openEmbeddedStore(join(made, 'store'), {});
const here = { host: '127.0.0.1', port: 0 };
const http = { listen: here, showResult: () => Promise.resolve(undefined) };
const server = await startServer({ listen: here, store, http });
const browser = await launch();
try {
  const site = `http://${server.httpAddress}`;
  const [first] = await currentEstimates(store);
  for (const [name, file] of [
    ['report', 'quickstart.html'],
    ['share', 'share.html'],
  ] as const)
    await shoot(browser, name, pathToFileURL(resolve(made, file)).href);
  await shoot(browser, 'models', `${site}/`);
  await shoot(browser, 'model', `${site}/model?name=${encodeURIComponent(first?.model ?? '')}`);
  await shoot(browser, 'history', `${site}/estimates/${first?.subject}`);
  await shoot(browser, 'systems', `${site}/systems/${first?.system}`);
  for (const place of ['evaluations', 'agents', 'submit', 'predict']) await shoot(browser, place, `${site}/${place}`);
} finally {
  await browser.close();
  await server.close();
  await store.close();
}
