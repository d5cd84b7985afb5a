// Takes the pictures of docs, and the same pages at other widths and in both colors to look at.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KeptEstimate } from '../src/measuring/estimates.js';
import { workplace } from '../test/cli/support/command.js';
import { until } from '../test/support/until.js';
import { launch } from '../test/web/support/chromium.js';

const [made = 'out/screenshots', pictures = 'docs/pictures'] = process.argv.slice(2);

const IN_DOCS = new Set(['report', 'share', 'models']);

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

const EVALUATION = 'two-networks';
const MANIFEST = {
  dlspec: 'evaluation/v1',
  name: EVALUATION,
  version: '1.0.0',
  models: ['zoo:squeezenet1.1', 'zoo:resnet18'],
};

const cleanups: (() => unknown)[] = [];
const folder = await workplace({ after: (cleanup) => void cleanups.unshift(cleanup) });
const browser = await launch();

async function shoot(name: string, address: string): Promise<void> {
  for (const [index, { width, colorScheme }] of LOOKS.entries()) {
    const context = await browser.newContext({ viewport: { width, height: HEIGHT }, colorScheme });
    const page = await context.newPage();
    await page.goto(address);
    await page.screenshot({ path: join(made, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    if (index === 0 && IN_DOCS.has(name)) await page.screenshot({ path: join(pictures, `${name}.png`) });
    await context.close();
  }
}

/** Runs the evaluation on the server's agent. @returns the signature of a brick of its result */
async function evaluate(api: string): Promise<string> {
  const body = JSON.stringify({ id: EVALUATION, manifest: MANIFEST });
  const headers = { 'content-type': 'application/json' };
  await until(async () => (await (await fetch(`${api}/agents`)).text()).includes('hostname'));
  await until(async () => (await fetch(`${api}/evaluations`, { method: 'POST', headers, body })).ok);
  let result = '';
  await until(async () => {
    const answer = await fetch(`${api}/evaluations/${EVALUATION}/result`);
    result = await answer.text();
    return answer.ok;
  });
  return /"signature": ?"([0-9a-f]{64})"/.exec(result)?.[1] ?? '';
}

try {
  await mkdir(pictures, { recursive: true });
  for (const [name, file] of [
    ['report', 'quickstart.html'],
    ['share', 'share.html'],
    ['compared', 'compared.html'],
  ] as const)
    await shoot(name, pathToFileURL(resolve(made, file)).href);
  const anywhere = '127.0.0.1:0';
  const serve = folder.start(['serve', '--listen', anywhere, '--http', anywhere, '--store', resolve(made, 'store')]);
  const [, server = ''] = await serve.said(/listening on (\S+)/);
  const [, site = ''] = await serve.said(/pages at (\S+)\//);
  folder.start(['agent', '--server', server, '--listen', anywhere]);
  const brick = await evaluate(`${site}/api/v1`);
  const { estimates } = (await (await fetch(`${site}/api/v1/estimates`)).json()) as { estimates: KeptEstimate[] };
  const { subject = '', system = '', model = '' } = estimates[0] ?? {};
  const several = estimates.slice(0, 3).map((estimate) => `of=${estimate.subject}`);
  await shoot('models', `${site}/`);
  await shoot('model', `${site}/model?name=${encodeURIComponent(model)}`);
  await shoot('history', `${site}/estimates/${subject}`);
  await shoot('systems', `${site}/systems/${system}`);
  await shoot('compare', `${site}/compare?${several.join('&')}`);
  await shoot('evaluation', `${site}/evaluations/${EVALUATION}`);
  await shoot('brick', `${site}/bricks/${brick}`);
  for (const place of ['evaluations', 'agents', 'submit', 'predict']) await shoot(place, `${site}/${place}`);
} finally {
  await browser.close();
  for (const cleanup of cleanups) await cleanup();
}
