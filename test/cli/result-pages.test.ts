import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { buildReport } from '../../plugins/dlbricks/report/report.js';
import { PlatformError } from '../../src/base/errors.js';
import { ResultPages } from '../../src/cli/result-pages/result-pages.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from '../plugins/dlbricks/report/sample-result.js';
import { HOSTILE } from '../server/site-server.js';

/** Its results hang, fail, or are shown, as they say. */
const PLUGIN = `import { z } from 'dlbricks/plugin-api';
export default {
  name: 'odd', version: '1.0.0',
  evaluation: {
    name: 'odd', version: '1.0.0', settings: z.object({}), run: async function* () {},
    show: ({ how }) => {
      if (how === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      if (how === 'fail') throw new Error('broken');
      if (how === 'other') return undefined;
      const result = () => ({ document: {}, records: { keys: [], rows: [] }, notes: [],
        table: { titles: ['model'], aligns: ['left'], rows: [['</script><b>' + how]] } });
      return { result, text: () => '' };
    },
  },
};`;

async function pagesWith(t: TestContext, timeLimitMs?: number): Promise<(how: string) => Promise<string | undefined>> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-'));
  const path = join(folder, 'odd.mjs');
  await writeFile(path, PLUGIN);
  const pages = new ResultPages({ paths: [path], folder }, timeLimitMs);
  t.after(async () => {
    pages.close();
    await rm(folder, { recursive: true, force: true });
  });
  return (how) => pages.show('odd', Buffer.from(JSON.stringify({ how })));
}

describe('results as parts of pages', { timeout: 300_000 }, () => {
  it('are shown by the plugins of the command, with foreign text escaped and bricks linked', async (t) => {
    const pages = new ResultPages({ paths: [], folder: join(tmpdir(), 'no-such-folder') });
    t.after(() => pages.close());
    const models = HOSTILE.map((name) => ({ estimate: estimateOf(name, 10), endToEnd: endToEndOf(0, 10, 5000, 10.4) }));
    const report = buildReport(resultOf(models), SETTINGS);
    const shown = await pages.show('dlbricks', Buffer.from(JSON.stringify(report)));
    assert.match(shown ?? '', /<h2>Latency of .*<h3>Estimated and measured<\/h3>/s);
    assert.doesNotMatch(shown ?? '', /<script|<img/);
    assert.equal(await pages.show('latency', Buffer.from(JSON.stringify(report))), undefined);
    assert.equal(await pages.show('none', Buffer.from('{}')), undefined);
  });

  it('do not wait for a plugin that hangs, and later ones are shown', async (t) => {
    const show = await pagesWith(t, 3000);
    const [hangs, after] = await Promise.allSettled([show('hang'), show('text')]);
    assert.ok(hangs.status === 'rejected');
    assert.ok(hangs.reason instanceof PlatformError && hangs.reason.code === 'timeout', String(hangs.reason));
    assert.ok(after.status === 'fulfilled');
    assert.match(after.value ?? '', /&#60;\/script&#62;&#60;b&#62;text/);
  });

  it('name the error of a plugin that fails', async (t) => {
    const show = await pagesWith(t);
    await assert.rejects(show('fail'), /the result cannot be shown: broken/);
    assert.equal(await show('other'), undefined);
  });
});
