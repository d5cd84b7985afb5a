import assert from 'node:assert/strict';
import { chmod, mkdir } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { readAccessFile } from '../../src/cli/access-file.js';
import { assertRefused, refusal } from '../rpc/support/refusal.js';
import { deadline, workplace } from './support/command.js';
import { accessOf, newToken, writeAccessFile } from './support/tokens.js';

const HASH = 'ab'.repeat(32);

async function reading(t: TestContext, text: string) {
  const path = await writeAccessFile(await workplace(t), text);
  return { path, tokens: readAccessFile(path) };
}

describe('a file of tokens', deadline, () => {
  it('has the role and the hash of each token', async (t) => {
    const text = `tokens:\n  - { name: nightly, role: submit, sha256: ${HASH} }\n`;
    const [token, ...others] = await (await reading(t, text)).tokens;
    assert.deepEqual(
      { ...token, sha256: token?.sha256.toString('hex') },
      { name: 'nightly', role: 'submit', sha256: HASH },
    );
    assert.equal(others.length, 0);
  });

  const entry = (changes: object): string => JSON.stringify({ name: 'a', role: 'read', sha256: HASH, ...changes });
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['is empty', '', /document: expected a mapping/],
    ['has no tokens', 'tokens: []', /tokens: expected a list of at least 1 item/],
    ['has an unknown role', `tokens: [${entry({ role: 'root' })}]`, /role: expected "read", "submit".*found "root"/],
    ['has the token itself', `tokens: [${entry({ token: 'secret' })}]`, /unknown key "token"/],
    ['has half a hash', `tokens: [${entry({ sha256: HASH.slice(1) })}]`, /sha256: expected the SHA-256 of a token/],
    ['has a number for a hash', 'tokens: [{ name: a, role: read, sha256: 1 }]', /sha256: expected a text/],
    ['has control characters in a name', `tokens: [${entry({ name: 'a\u001b[2J' })}]`, /name: expected up to 100/],
    ['has an endless name', `tokens: [${entry({ name: 'a'.repeat(101) })}]`, /name: expected up to 100/],
    ['has one name twice', `tokens: [${entry({})}, ${entry({ sha256: '0'.repeat(64) })}]`, /tokens\[1\]\.name: expected another/],
    ['has one token twice', `tokens: [${entry({})}, ${entry({ name: 'b', role: 'full' })}]`, /tokens\[1\]\.sha256: expected another/],
    ['has 1001 tokens', `tokens: [${Array(1001).fill(entry({})).join()}]`, /a list of at most 1000 items/],
    ['doubles itself', 'a: &a [x]\nb: &b [*a, *a]\ntokens: *b\n', /expected/],
    ['nests without end', '['.repeat(100_000), /expected/],
    ['is no text', '\u0000\uffff', /expected/],
  ]; // prettier-ignore
  for (const [name, text, message] of wrong) {
    it(`that ${name} is refused with the place`, async (t) => {
      const { path, tokens } = await reading(t, text);
      await assert.rejects(tokens, (error) => {
        return refusal('manifest', message)(error) && (error as Error).message.startsWith(`${path}:`);
      });
    });
  }

  it('that is too large is refused', async (t) => {
    await assertRefused((await reading(t, ' '.repeat(2 ** 20 + 1))).tokens, 'usage', /expected a file, found/);
  });

  it('that is a folder, or not there, is refused', async (t) => {
    const place = await workplace(t);
    await mkdir(place.path('folder'));
    await assertRefused(readAccessFile(place.path('folder')), 'usage', /found a folder/);
    await assertRefused(readAccessFile(place.path('none')), 'usage', /found no such file/);
  });

  it('that other users can change is refused', { skip: process.platform === 'win32' }, async (t) => {
    const { path, tokens } = await reading(t, accessOf([newToken('read')]));
    await tokens;
    for (const mode of [0o620, 0o602]) {
      await chmod(path, mode);
      await assertRefused(readAccessFile(path), 'usage', /can be changed by other users; run `chmod go-w /);
    }
    await chmod(path, 0o644);
    await readAccessFile(path);
  });
});
