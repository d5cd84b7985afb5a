import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const BROWSER = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Why tests with a browser are skipped; false where there is one. */
export const skip = existsSync(BROWSER) ? false : `there is no browser at ${BROWSER}; CHROMIUM names another`;

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
}

/** As long as a slow machine with much other work may need. */
const WAIT_MS = 60_000;

export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(WAIT_MS);
  return context;
}

/** From now on: requests that are not allowed, errors, and messages of the console. */
export function problemsOf(page: Page, isAllowed: (url: string) => boolean): readonly string[] {
  const problems: string[] = [];
  page.on('request', (request) => {
    if (!isAllowed(request.url())) problems.push(`request of ${request.url()}`);
  });
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  return problems;
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly impact: string; readonly nodes: unknown[] }[];
}

/** What axe finds on a page whose policy is off, with the first place of each. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate<AxeResult>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} ${JSON.stringify(nodes[0])}`);
}
