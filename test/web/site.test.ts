import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { signatureOf, SYSTEM } from '../store/sample-measurement.js';
import { scripted, untilStopped } from '../server/scripted-evaluation.js';
import { fillStore, HOSTILE, siteServing, stepwise } from '../server/site-server.js';
import type { ServingOptions } from '../server/serving.js';
import { launch, newContext, problemsOf, seriousFindings, skip } from './support/chromium.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const MANIFEST = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };

/** A step that waits until the test lets it go on. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('the site in a browser', { skip, timeout: 240_000 }, () => {
  let browser: Browser;

  before(async () => {
    browser = await launch();
  });

  after(() => browser?.close());

  /** A server with hostile names in its store, and a page of a browser. Every foreign request and error is a problem. */
  async function visit(
    t: TestContext,
    { serving = {}, ...options }: BrowserContextOptions & { serving?: ServingOptions } = {},
  ) {
    const served = await siteServing(t, serving);
    await fillStore(served.store);
    const context = await newContext(browser, options);
    t.after(() => context.close());
    const page = await context.newPage();
    const problems = problemsOf(page, (url) => url.startsWith(`${served.url}/`));
    return { ...served, page, problems };
  }

  async function submit(url: string, id: string): Promise<void> {
    const answer = await fetch(`${url}/api/v1/evaluations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, manifest: MANIFEST }),
    });
    assert.equal(answer.status, 200, await answer.text());
  }

  const statusOf = (page: Page) => page.locator('main [role=status]').first();

  it('follows an evaluation to its result', async (t) => {
    const { url, attach, page, problems } = await visit(t);
    const gates = [gate(), gate(), gate()];
    await attach(scripted(stepwise(3, (index) => gates[index]?.opened ?? Promise.resolve())));
    await submit(url, 'followed-evaluation');
    await page.goto(`${url}/evaluations/followed-evaluation`);
    await page.getByText('note 0').waitFor();
    gates[0]?.open();
    await page.getByText('note 1').waitFor();
    await page
      .locator('[data-progress]')
      .filter({ hasText: /^measuring 1 of 3: step "><img/ })
      .waitFor();
    assert.equal(await page.evaluate('document.querySelector("progress").value'), 1 / 3);
    gates[1]?.open();
    gates[2]?.open();
    await statusOf(page).filter({ hasText: 'done' }).waitFor();
    await page.getByRole('heading', { name: 'Estimated and measured' }).waitFor();
    assert.match(await page.title(), /\(done\)$/);
    const lines = await page.locator('[data-events] li').allInnerTexts();
    assert.equal(lines.filter((line) => line.includes('note')).length, 3, 'each event once');
    assert.deepEqual(problems, []);
  });

  it('submits an evaluation from the form of its plugin, by keyboard, and cancels it', async (t) => {
    const { url, attach, page, problems } = await visit(t);
    await attach(
      scripted(async function* (request, context) {
        yield { kind: 'note', level: 'info', message: `batch ${request.evaluation.manifest.batch_size}` };
        await untilStopped(context);
      }),
    );
    await page.goto(`${url}/submit`);
    for (const [label, text] of [
      ['name', 'mine'],
      ['version', '1.0.0'],
      ['models', 'zoo:resnet18'],
      ['batch_size', '3'],
    ] as const) {
      await page.getByLabel(label, { exact: true }).focus();
      await page.keyboard.type(text);
    }
    await page.getByRole('button', { name: 'Submit' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/evaluations\/[\w-]+$/);
    await page.getByText('batch 3').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await statusOf(page).filter({ hasText: 'cancelled' }).waitFor();
    assert.deepEqual(problems, []);
  });

  it('shows the problem of a submission beside its form', async (t) => {
    const { url, attach, page } = await visit(t);
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    await page.goto(`${url}/submit`);
    await page.getByLabel('name', { exact: true }).fill('<b>name</b>');
    await page.getByLabel('version', { exact: true }).fill('1.0.0');
    await page.getByLabel('models', { exact: true }).fill('zoo:<img src=x>');
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('alert').filter({ hasText: 'zoo:<img src=x>' }).waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    const models = page.getByLabel('models', { exact: true });
    assert.equal(await models.getAttribute('aria-invalid'), 'true');
    const [first = '', second = ''] = await page.locator('.field:has([aria-invalid]) .problem').allInnerTexts();
    assert.match(first, /^name: expected/);
    assert.match(second, /^models\[0\]: expected/);
    await page.getByLabel('name', { exact: true }).fill('mine');
    await models.fill('zoo:resnet18');
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.waitForURL(/\/evaluations\/[\w-]+$/);
  });

  it('saves whole ids as CSV, and no column of choices', async (t) => {
    const { url, attach, page } = await visit(t);
    const folder = await temporaryFolder(t);
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    await submit(url, 'listed-evaluation-0123456789');
    await page.goto(`${url}/evaluations`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^CSV/ }).click(),
    ]);
    const saved = join(folder, 'saved.csv');
    await download.saveAs(saved);
    const [titles = '', row = ''] = (await readFile(saved, 'utf8')).split('\r\n');
    assert.match(titles, /changed,id$/);
    assert.match(row, /,listed-evaluation-0123456789$/);
  });

  it('lets nobody in without the token, and a visitor who logs in', async (t) => {
    const token = 'visitor-token-0123456789';
    const { url, attach, page } = await visit(t, { serving: { token } });
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    await page.goto(`${url}/submit`);
    await page.getByLabel('Token').fill('wrong-token');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('does not accept this token').waitFor();
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Submit an evaluation' }).waitFor();
    assert.equal(await page.evaluate('document.cookie'), '', 'scripts cannot read the session');
    await page.getByLabel('name', { exact: true }).fill('mine');
    await page.getByLabel('version', { exact: true }).fill('1.0.0');
    await page.getByLabel('models', { exact: true }).fill('zoo:resnet18');
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('heading', { name: 'Estimated and measured' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  it('shows models by systems with hostile names as text, sorts, filters, and saves CSV without formulas', async (t) => {
    const { url, page, problems } = await visit(t);
    const folder = await temporaryFolder(t);
    await page.goto(url);
    assert.equal(await page.title(), 'Models and systems');
    assert.equal(await page.locator('img').count(), 0);
    await page.getByRole('searchbox', { name: /^filter/ }).fill('hyperlink');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^CSV/ }).click(),
    ]);
    const saved = join(folder, 'saved.csv');
    await download.saveAs(saved);
    assert.match(await readFile(saved, 'utf8'), /^"'=HYPERLINK/m);
    await page.getByRole('searchbox', { name: /^filter/ }).fill('');
    const column = page.locator('thead th').nth(2).getByRole('button');
    await column.click();
    assert.equal(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'descending');
    await page.getByRole('searchbox', { name: 'Search' }).fill('squeezenet');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/q=squeezenet/);
    assert.equal(await page.locator('tbody tr').count(), 1);
    await page.getByRole('link', { name: 'squeezenet', exact: true }).click();
    await page.getByRole('heading', { name: 'squeezenet' }).waitFor();
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: 'Compare the chosen ones' }).click();
    await page.getByRole('heading', { name: 'Side by side' }).waitFor();
    assert.match(page.url(), /\/compare\?of=[0-9a-f]{64}&of=[0-9a-f]{64}$/);
    assert.deepEqual(problems, []);
  });

  it('works without scripts, but for forms', async (t) => {
    const { url, page } = await visit(t, { javaScriptEnabled: false });
    await page.goto(url);
    assert.equal(await page.locator('tbody tr').count(), 3 + HOSTILE.length);
    await page.getByRole('link', { name: 'resnet18', exact: true }).first().click();
    assert.ok((await page.locator('.ranges .band:visible').count()) > 1);
    await page.getByRole('link', { name: 'Submit' }).click();
    assert.ok(await page.locator('noscript p').isVisible());
  });

  const PATHS = [
    '/',
    '/systems',
    `/systems/${SYSTEM.fingerprint}`,
    `/model?name=${encodeURIComponent(HOSTILE[1])}`,
    '/estimates/{first}',
    '/compare?of={several}',
    `/bricks/${signatureOf(1)}`,
    '/evaluations',
    '/evaluations/shown-evaluation',
    '/agents',
    '/submit',
    '/predict',
    '/login',
    '/nothing',
  ];

  for (const [width, colorScheme, paths] of [
    [360, 'dark', PATHS],
    [2560, 'light', ['/', '/compare?of={several}', '/evaluations/shown-evaluation', '/submit']],
  ] as const) {
    it(`has no serious finding of axe and fits ${width} pixels, ${colorScheme}`, async (t) => {
      const { url, attach, page } = await visit(t, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      const held = gate();
      await attach(scripted(stepwise(2, () => held.opened)));
      await submit(url, 'shown-evaluation');
      const { estimates } = (await (await fetch(`${url}/api/v1/estimates`)).json()) as {
        estimates: { subject: string }[];
      };
      const subjects = estimates.map(({ subject }) => subject).slice(0, 4);
      const filled = (path: string): string =>
        path.replace('{first}', subjects[0] ?? '').replace('{several}', subjects.join('&of='));
      for (const path of paths) {
        await page.goto(`${url}${filled(path)}`);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, path);
        assert.deepEqual(await seriousFindings(page), [], path);
      }
      held.open();
    });
  }
});
