import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { reportPage } from '../../plugins/dlbricks/report/report-page.js';
import { reportResult } from '../../plugins/dlbricks/report/show-report.js';
import { buildReport } from '../../plugins/dlbricks/report/report.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from '../plugins/dlbricks/report/sample-result.js';
import { HOSTILE } from '../server/site-server.js';
import type { Markup } from '../../src/base/markup.js';
import { histogramChart, rangeChart } from '../../src/web/charts.js';
import { htmlPage } from '../../src/web/page.js';
import { launch, newContext, problemsOf, seriousFindings, skip } from './support/chromium.js';

function reportHtml(names: readonly string[]): string {
  const models = names.map((name, index) => ({
    estimate: estimateOf(name, 10.9 + index),
    endToEnd: endToEndOf(0, 10, 5000, 10.4 + index),
  }));
  const reports = [buildReport(resultOf(models), SETTINGS)];
  return htmlPage([{ result: () => reportResult(reports), page: () => reportPage(reports) }]);
}

function pageWith(chart: Markup | undefined): string {
  const table = { titles: [], aligns: [], rows: [] };
  const result = { document: {}, records: { keys: [], rows: [] }, table, notes: [] };
  return htmlPage([{ result: () => result, page: () => ({ title: 'Chart', sections: [{ title: 'Chart', chart }] }) }]);
}

describe('a page in a browser', { skip, timeout: 180_000 }, () => {
  let browser: Browser;
  let folder: string;
  let file: string;

  before(async () => {
    browser = await launch();
    folder = await mkdtemp(join(tmpdir(), 'page-'));
    file = join(folder, 'report.html');
    await writeFile(file, reportHtml(['one', 'two', 'three', ...HOSTILE]));
  });

  after(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens the page from disk without a network. Every request, error and message of the console is in `problems`. */
  async function open(options: BrowserContextOptions = {}) {
    const context = await newContext(browser, { offline: true, ...options });
    const page = await context.newPage();
    const problems = problemsOf(page, (url) => url === pathToFileURL(file).href);
    await page.goto(pathToFileURL(file).href);
    return { page, problems, context };
  }

  const firstTable = (page: Page) => page.locator('.table').first();
  const column = (page: Page, index: number) =>
    firstTable(page)
      .locator(`tbody tr:visible > :nth-child(${index + 1})`)
      .allTextContents();

  it('opens from disk, loads nothing, and lets no foreign script run', async () => {
    const { page, problems, context } = await open();
    assert.match(await page.title(), /^Latency of one, two, three, <\/script>/);
    assert.equal(await page.locator('img').count(), 0);
    assert.deepEqual(problems, []);
    await context.close();
  });

  it('shows all figures without scripts, and no button that needs one', async () => {
    const { page, context } = await open({ javaScriptEnabled: false });
    assert.equal(await firstTable(page).locator('tbody tr').count(), 3 + HOSTILE.length);
    assert.equal(await page.locator('.ranges .band:visible').count(), 3 + HOSTILE.length);
    assert.equal(await page.locator('button').count(), 0);
    await context.close();
  });

  it('sorts by number and by name, and back', async () => {
    const { page, context } = await open();
    const original = await column(page, 0);
    const titles = await firstTable(page).locator('thead th').allInnerTexts();
    const estimate = titles.findIndex((title) => title.startsWith('estimate'));
    const button = firstTable(page).locator('thead th').nth(estimate).locator('button');
    await button.click();
    const falling = (await column(page, estimate)).map(parseFloat);
    assert.deepEqual(
      falling,
      falling.toSorted((a, b) => b - a),
    );
    assert.equal(await firstTable(page).locator('th[aria-sort]').getAttribute('aria-sort'), 'descending');
    await button.click();
    const rising = (await column(page, estimate)).map(parseFloat);
    assert.deepEqual(rising, falling.toReversed());
    await button.click();
    assert.deepEqual(await column(page, 0), original);
    await context.close();
  });

  it('filters, and saves what is shown as CSV without formulas', async () => {
    const { page, context } = await open();
    const filter = page.getByRole('searchbox').first();
    await filter.fill('hyperlink');
    assert.equal((await column(page, 0)).length, 1);
    assert.equal(await page.getByRole('status').first().innerText(), '1 of 8 rows');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^CSV/ }).first().click(),
    ]);
    const saved = join(folder, 'saved.csv');
    await download.saveAs(saved);
    const [head, row, end] = (await readFile(saved, 'utf8')).split('\r\n');
    assert.match(head ?? '', /^model,/);
    assert.match(row ?? '', /^"'=HYPERLINK/);
    assert.equal(end, '');
    await context.close();
  });

  it('copies what is shown', async () => {
    const { page, context } = await open();
    await page.getByRole('button', { name: /^copy/ }).first().click();
    await page.getByRole('status').first().filter({ hasText: 'copied' }).waitFor({ timeout: 5000 });
    await page.getByRole('searchbox').first().focus();
    await page.keyboard.press('Control+V');
    assert.match(await page.getByRole('searchbox').first().inputValue(), /^model.*estimate \(ms\).*one/);
    await context.close();
  });

  it('works by keyboard', async () => {
    const { page, context } = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.type('three');
    assert.deepEqual(await column(page, 0), ['three']);
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press('Tab');
      if ((await firstTable(page).locator('th button:focus').count()) === 1) break;
    }
    await page.keyboard.press('Enter');
    assert.equal(await firstTable(page).locator('th[aria-sort]').count(), 1);
    await context.close();
  });

  it('says what a number is where one points at it', async () => {
    const { page, context } = await open();
    const titles = await firstTable(page).locator('thead th').allInnerTexts();
    const cell = (name: string) => {
      const index = titles.findIndex((title) => title.startsWith(name));
      return firstTable(page).locator('tbody tr').first().locator(':is(td, th)').nth(index);
    };
    assert.match((await cell('estimate').getAttribute('title')) ?? '', /ms; .*interval.*timed run/);
    await cell('layers').hover();
    assert.match((await cell('layers').getAttribute('title')) ?? '', /^one, layers: \d+$/);
    await context.close();
  });

  it('draws a histogram as bars on one line, as high as they have values', async () => {
    const { page, context } = await open();
    const chart = histogramChart('ms', [{ name: 'runs', from: 2, step: 0.5, counts: [1, 4, 0, 2] }]);
    const drawing = join(folder, 'histogram.html');
    await writeFile(drawing, pageWith(chart));
    await page.goto(pathToFileURL(drawing).href);
    const boxes = await Promise.all((await page.locator('.bars i').all()).map((bar) => bar.boundingBox()));
    const [one, four, none, two] = boxes.map((box) => box?.height ?? 0);
    assert.ok(
      four && Math.abs(four / 4 - (one ?? 0)) < 1 && Math.abs(four / 2 - (two ?? 0)) < 1,
      JSON.stringify(boxes),
    );
    assert.ok((none ?? 0) < 1.5);
    const ends = boxes.map((box) => Math.round((box?.y ?? 0) + (box?.height ?? 0)));
    assert.equal(new Set(ends).size, 1, 'one line');
    const lefts = boxes.map((box) => box?.x ?? 0);
    assert.deepEqual(
      lefts,
      lefts.toSorted((a, b) => a - b),
    );
    await context.close();
  });

  it('has room for the largest number of an axis on a narrow screen', async () => {
    const { page, context } = await open({ viewport: { width: 360, height: 900 } });
    const ranges = [{ name: 'one', value: 60, low: 0, high: 930, text: '60 ms' }];
    const drawing = join(folder, 'ranges.html');
    await writeFile(drawing, pageWith(rangeChart({ unit: 'ms', words: { value: 'mean', interval: 'runs' }, ranges })));
    await page.goto(pathToFileURL(drawing).href);
    assert.match(await page.locator('.axis').innerText(), /1000$/);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
    await context.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [360, 2560]) {
      it(`has no serious finding of axe and fits ${width} pixels, ${colorScheme}`, async () => {
        const { page, context } = await open({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
        assert.deepEqual(await seriousFindings(page), []);
        await context.close();
      });
    }
  }

  it('prints all rows without tools', async () => {
    const { page, context } = await open();
    const pdf = await page.pdf({ format: 'A4' });
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('.tools:visible').count(), 0);
    assert.equal(await firstTable(page).locator('tbody tr:visible').count(), 3 + HOSTILE.length);
    await context.close();
  });
});
