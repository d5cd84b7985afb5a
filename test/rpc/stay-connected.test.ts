import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { stayConnected } from '../../src/rpc/stay-connected.js';
import { assertRefused } from './support/refusal.js';

describe('staying connected', { timeout: 30_000 }, () => {
  test('reports once that the server is lost, and again after it answered', async () => {
    const lost: string[] = [];
    const refused = new PlatformError('unauthenticated', 'wrong token');
    const failures = [new Error('first'), new PlatformError('unavailable', 'second'), new Error('third'), refused];
    let attempts = 0;
    const attempt = (answers: () => void): Promise<void> => {
      if (attempts === 2) answers();
      return Promise.reject(failures[attempts++] ?? new Error('one attempt too many'));
    };
    const { signal } = new AbortController();
    const staying = stayConnected(attempt, { signal, onLost: (problem) => lost.push(problem) });
    await assertRefused(staying, 'unauthenticated', /wrong token/);
    assert.deepEqual([lost, attempts], [['first', 'third'], 4]);
  });

  for (const code of ['usage', 'unauthenticated', 'forbidden', 'unsupported'] as const) {
    test(`does not try again if the server refuses with ${code}`, async () => {
      const attempt = (): Promise<void> => Promise.reject(new PlatformError(code, 'no'));
      await assertRefused(stayConnected(attempt, { signal: new AbortController().signal }), code);
    });
  }

  test('ends without a failure when its signal aborts', async () => {
    const controller = new AbortController();
    const attempt = (): Promise<void> => {
      controller.abort(new PlatformError('timeout', 'enough'));
      return Promise.reject(new Error('broken off'));
    };
    await stayConnected(attempt, { signal: controller.signal });
  });
});
