import { describe, it } from 'node:test';
import { openQueue } from '../../../src/work/open-queue.js';
import { startTlsServer } from '../../rpc/support/tls-server.js';
import { assertRefused } from '../../rpc/support/refusal.js';

describe('a broker whose certificate is from an unknown authority', { timeout: 60_000 }, () => {
  it('is refused with the option that names the authority', async (t) => {
    const opening = openQueue(`amqps://alice:secret@${await startTlsServer(t)}`, { onWarning: () => undefined });
    await assertRefused(opening, 'unavailable', /^(?!.*secret).*self-signed.* an authority that --tls-ca names/);
  });
});
