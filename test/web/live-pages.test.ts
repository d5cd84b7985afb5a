import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startAgent } from '../../src/agent/services/server.js';
import { createDirectory } from '../../src/directory/agent-directory.js';
import { ModelManifest } from '../../src/generated/carml/org/dlframework/registry.js';
import { coloredPictures } from '../agent/support/colored-pictures.js';
import { LABELS, predictionModels } from '../agent/support/prediction-models.js';
import { offer } from '../directory/support/offer.js';
import { scripted } from '../server/scripted-evaluation.js';
import { siteServing, stepwise } from '../server/site-server.js';
import { until } from '../support/until.js';
import { launch, newContext, seriousFindings, skip } from './support/chromium.js';

/** A way to a server that can be cut. */
async function wayTo(t: TestContext, address: string) {
  const { hostname, port } = new URL(address);
  const sockets = new Set<net.Socket>();
  const lastIds: number[] = [];
  let isCut = false;
  let refused = 0;
  const server = net.createServer((near) => {
    near.on('error', () => {});
    if (isCut) {
      refused++;
      near.destroy();
      return;
    }
    const far = net.connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
      one.pipe(other);
    }
    near.on('data', (bytes: Buffer) => {
      for (const [, id] of bytes.toString().matchAll(/^last-event-id: (\d+)/gim)) lastIds.push(Number(id));
    });
  });
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    cut();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastIds,
    cut,
    refused: () => refused,
    mend: (): void => void (isCut = false),
  };
}

describe('pages that work with a server', { skip, timeout: 180_000 }, () => {
  let browser: Browser;

  before(async () => {
    browser = await launch();
  });

  after(() => browser?.close());

  async function pageOf(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await newContext(browser, options);
    t.after(() => context.close());
    return context.newPage();
  }

  it('goes on after the last event that it has when the connection was lost', async (t) => {
    const { url, attach } = await siteServing(t);
    const opens: (() => void)[] = [];
    const gates = [0, 1, 2].map(() => new Promise<void>((resolve) => opens.push(resolve)));
    await attach(scripted(stepwise(3, (index) => gates[index] ?? Promise.resolve())));
    const manifest = {
      dlspec: 'evaluation/v1',
      name: 'far',
      version: '1.0.0',
      plugin: 'fake',
      models: ['zoo:resnet18'],
    };
    const submitted = await fetch(`${url}/api/v1/evaluations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'lost-and-found', manifest }),
    });
    assert.equal(submitted.status, 200);
    const way = await wayTo(t, url);
    const page = await pageOf(t);
    await page.goto(`${way.url}/evaluations/lost-and-found`);
    await page.getByText('note 0').waitFor();
    way.cut();
    opens[0]?.();
    await until(async () => {
      const answer = await fetch(`${url}/api/v1/evaluations/lost-and-found`);
      return (await answer.text()).includes('"done":1');
    });
    await until(() => way.refused() > 0);
    assert.equal(await page.getByText('note 1').count(), 0);
    way.mend();
    await page.getByText('note 1').waitFor();
    assert.ok((way.lastIds[0] ?? 0) > 0, 'the browser says which event it has');
    for (const open of opens) open();
    await page.locator('main [role=status]').first().filter({ hasText: 'done' }).waitFor();
    const lines = await page.locator('[data-events] li').allInnerTexts();
    assert.equal(lines.filter((line) => line.includes('note')).length, 3, 'each event once');
  });

  it('predicts for a picture with two frameworks, one beside the other', async (t) => {
    const directory = createDirectory({ leaseMs: Infinity });
    for (const framework of ['onnxruntime', 'onnxruntime-web'] as const) {
      const agent = await startAgent({ framework, resolveModel: predictionModels() });
      t.after(() => agent.close());
      const graphPath = framework === 'onnxruntime' ? 'own.onnx' : 'zoo:resnet18';
      const models = [ModelManifest.fromPartial({ name: 'classifier', version: '1.0.0', model: { graphPath } })];
      const { frameworkVersion } = agent.description;
      directory.register(offer({ address: agent.address, tls: false, framework, frameworkVersion, models }));
    }
    const { url } = await siteServing(t, { directory });
    const page = await pageOf(t, { viewport: { width: 360, height: 800 }, bypassCSP: true });
    await page.goto(`${url}/predict`);
    const [picture = Buffer.of()] = await coloredPictures(1);
    const choose = (name: string, buffer: Buffer) =>
      page.getByLabel(/^Picture/).setInputFiles({ name, mimeType: 'image/png', buffer });
    await choose('red.png', picture);
    for (const [label, framework] of [
      ['Runs on', /^onnxruntime \d/],
      ['and, beside it, on', /^onnxruntime-web \d/],
    ] as const) {
      const options = page.getByLabel(label).locator('option');
      const option = options.filter({ hasText: framework });
      await page.getByLabel(label).selectOption((await option.getAttribute('value')) ?? '');
    }
    const predict = page.getByRole('button', { name: 'Predict' });
    await predict.click();
    const answers = page.locator('.side-by-side section');
    await page.locator('.side-by-side table').nth(1).waitFor();
    assert.equal(await page.getByAltText('the picture').isVisible(), true);
    const shown = await Promise.all(
      (await answers.all()).map(async (answer) => ({
        title: await answer.getByRole('heading').innerText(),
        cells: await answer.locator('tbody td').allInnerTexts(),
        time: await answer.locator('p.quiet').innerText(),
      })),
    );
    assert.deepEqual(
      shown.map(({ title }) => title.split(' ')[0]),
      ['onnxruntime', 'onnxruntime-web'],
    );
    const [first, second] = shown.map(({ cells }) => cells);
    assert.ok(LABELS.includes(first?.[0] ?? ''));
    assert.equal(first?.length, 3 * LABELS.length, 'each class, its score, and no details');
    for (const [index, cell] of (first ?? []).entries()) {
      const other = second?.[index] ?? '';
      if (index % 3 === 1) assert.ok(Math.abs(Number(cell) - Number(other)) < 1e-3, `${cell} and ${other}`);
      else assert.equal(cell, other);
    }
    const warning = answers.locator('.problem + table');
    assert.equal(await warning.count(), 1, 'before the scores of the made-up weights only');
    assert.match(await answers.locator('.problem').innerText(), /^warning: the weights of classifier are made up/);
    for (const { time } of shown) assert.match(time, /^[\d.e-]+ ms for the inference, once$/);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
    assert.deepEqual(await seriousFindings(page), []);
    await choose('text.png', Buffer.from('no picture'));
    await predict.click();
    const problem = answers.locator('.problem');
    await problem.nth(1).waitFor();
    for (const text of await problem.allInnerTexts()) assert.match(text, /expected a JPEG, PNG, WebP or GIF/);
  });
});
