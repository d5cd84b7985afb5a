import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { PluginMessage } from '../../src/evaluation/link/link.js';
import { memoryLink } from './memory-link.js';
import { leased, registrationIn } from '../../src/server/attach.js';
import { assertRefused, refusal } from '../rpc/support/refusal.js';

describe('the lease of a plugin', { timeout: 60_000 }, () => {
  /** Ends with the lease of a plugin of which `receivedBytes` gives the bytes, and gives the checks of these. */
  async function checksOf(receivedBytes: (check: number) => number): Promise<number> {
    const link = memoryLink();
    let checks = 0;
    const messages = leased(link.platform, 5, () => receivedBytes(checks++));
    assert.equal((await messages.next()).done, true);
    return checks;
  }

  it('lasts while 1024 bytes come in its time, even without a message', async () => {
    // The bytes are counted at the start of a lease and at its end. A lease may be late once, on a busy machine.
    for (const bytes of [() => 4096, (check: number) => 1023 * check, (check: number) => 5000 + 100 * check])
      assert.ok((await checksOf(bytes)) < 4, String(bytes));
    assert.ok((await checksOf((check) => 1024 * Math.min(check, 5))) >= 4);
  });

  it('does not run while a message is handled, and begins anew after it', async () => {
    const link = memoryLink();
    const leaseMs = 20;
    const messages = leased(link.platform, leaseMs, () => 0);
    await link.plugin.send({ $case: 'renewal', value: {} });
    await link.plugin.send({ $case: 'renewal', value: {} });
    assert.equal((await messages.next()).done, false);
    await setTimeout(3 * leaseMs);
    assert.equal((await messages.next()).done, false);
    assert.equal((await messages.next()).done, true);
  });

  it('ends with the link, and leaves no timer behind', async (t) => {
    const link = memoryLink();
    const clear = t.mock.method(globalThis, 'clearTimeout');
    const messages = leased(link.platform, 60_000, () => 0);
    const first = messages.next();
    link.plugin.close();
    assert.equal((await first).done, true);
    assert.ok(clear.mock.callCount() > 0);
  });

  it('does not end because the process of the server was blocked, and ends when nothing comes', async () => {
    const link = memoryLink();
    const messages = leased(link.platform, 2500, () => 0);
    const first = messages.next();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
    // The timer of the lease is overdue, and runs before the message is there.
    void setTimeout(50).then(() => link.plugin.send({ $case: 'renewal', value: {} }));
    assert.deepEqual(await first, { done: false, value: { $case: 'renewal', value: {} } });
    assert.equal((await messages.next()).done, true);
  });
});

describe('the registration of a plugin', () => {
  function first(message: PluginMessage) {
    return { next: () => Promise.resolve({ done: false, value: message } as const) };
  }

  function registering(changes: object) {
    const right = { name: 'fake', version: '1.0.0', manifestSchemaJson: '{}', slots: 1 };
    return registrationIn(first({ $case: 'registration', value: { ...right, ...changes } }));
  }

  it('has what it says about itself', async () => {
    const registration = { name: 'fake', version: '1.0.0', manifestSchemaJson: '{}', slots: 1 };
    assert.deepEqual(await registering({}), registration);
    assert.deepEqual(await registering({ extra: 1 }), registration);
  });

  it('is accepted up to the limits of its fields, and refused beyond them with their names', async () => {
    const schema = (characters: number): string => `{"x":"${'x'.repeat(characters - 8)}"}`;
    for (const changes of [
      { name: 'x'.repeat(100) },
      { name: '0._+-aZ' },
      { version: 'x' },
      { version: 'x'.repeat(100) },
      { manifestSchemaJson: schema(2 ** 20) },
      { slots: 64 },
    ])
      await registering(changes);
    for (const [field, values] of Object.entries({
      name: ['', 'x'.repeat(101), '.a', '-a', 'a b', ' a', 'a\n', 'a/b', undefined],
      version: ['', 'x'.repeat(101), undefined],
      manifestSchemaJson: [schema(2 ** 20 + 1), '', '{', '1', '"x"', 'null', '[]', undefined],
      slots: [0, 65, 1.5, -1, undefined],
    })) {
      for (const value of values) {
        const problem = new RegExp(`^the plugin cannot be registered: ${field}: `);
        await assert.rejects(registering({ [field]: value }), refusal('usage', problem), `${field} ${value}`);
      }
    }
    const wrong = registering({ name: '', slots: 0 });
    await assertRefused(wrong, 'usage', /registered: name: .*; slots: /);
  });

  it('is the first message', async () => {
    await assertRefused(registrationIn(first({ $case: 'renewal', value: {} })), 'usage', /has to be the first message/);
    const ended = { next: () => Promise.resolve({ done: true, value: undefined } as const) };
    await assertRefused(registrationIn(ended), 'timeout', /^the plugin left without a registration/);
  });
});
