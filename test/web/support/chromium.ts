import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';

const BROWSER = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Why tests with a browser are skipped; false where there is one. */
export const skip = existsSync(BROWSER) ? false : `there is no browser at ${BROWSER}; CHROMIUM names another`;

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
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
