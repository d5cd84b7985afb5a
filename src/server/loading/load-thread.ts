// A worker thread that reads submissions one at a time, while the server answers others; see submission-loader.ts.
import { parentPort } from 'node:worker_threads';
import { messageOf, PlatformError } from '../../base/errors.js';
import { sha256Of } from '../../base/sha256.js';
import { loadSubmission } from '../../evaluation/submission.js';
import { fromWireSubmission, toWireSubmission } from '../../evaluation/wire/submission-wire.js';
import { Submission } from '../../generated/mlmodelscope/evaluation/v1/submission.js';
import { checkDescribedSettings } from '../../manifest/plugin-settings.js';
import { CountingReader, VALUE_BYTES } from '../../rpc/counting-reader.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import { decoded } from '../../rpc/message-format.js';
import type { FromThread, ToThread, Wanted } from './messages.js';

/** The most values that any request of this size may have; see docs/security.md. */
const MAX_VALUES = MAX_MESSAGE_BYTES / VALUE_BYTES;

class NotWanted extends Error {}

function decodeSubmission(bytes: Uint8Array, code: 'usage' | 'model', what: string): Submission {
  const tooMany = (): PlatformError =>
    new PlatformError(code, `${what} has more than the limit of ${MAX_VALUES} values; submit fewer models`);
  return decoded(() => Submission.decode(new CountingReader(bytes, MAX_VALUES, tooMany)));
}

/** The stored submission is sent to a plugin, in a message with limits of its own. */
function encoded(submission: Submission): Uint8Array {
  const bytes = Submission.encode(submission).finish();
  if (bytes.length > MAX_MESSAGE_BYTES) {
    const problem = `without weights, the models take more than ${MAX_MESSAGE_BYTES / 2 ** 20} MiB`;
    throw new PlatformError('model', `${problem}; submit fewer of them at a time`);
  }
  decodeSubmission(bytes, 'model', 'the form of the models without weights');
  return bytes;
}

async function load(bytes: Uint8Array, areGraphsWanted: () => Promise<Wanted>): Promise<Uint8Array> {
  const message = decodeSubmission(bytes, 'usage', 'the request');
  const digest = sha256Of(Submission.encode(message).finish());
  const { submission } = await loadSubmission(
    fromWireSubmission(message),
    async ({ name, plugin }, requirements, document) => {
      send({ kind: 'described', described: { digest, name, plugin, requirements } });
      const wanted = await areGraphsWanted();
      if (wanted === false) throw new NotWanted();
      if (wanted !== true) checkDescribedSettings(document, wanted.manifestSchemaJson);
    },
  );
  return encoded(toWireSubmission(submission));
}

function send(message: FromThread): void {
  const owned = message.kind === 'loaded' && message.bytes !== undefined ? [message.bytes.buffer as ArrayBuffer] : [];
  parentPort?.postMessage(message, owned);
}

let answer = (_wanted: Wanted): void => {};

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'graphs') {
    answer(message.wanted);
    return;
  }
  const areGraphsWanted = (): Promise<Wanted> => new Promise((resolve) => (answer = resolve));
  load(message.bytes, areGraphsWanted).then(
    (bytes) => send({ kind: 'loaded', bytes }),
    (error: unknown) => {
      if (error instanceof NotWanted) send({ kind: 'loaded', bytes: undefined });
      else {
        const code = error instanceof PlatformError ? error.code : 'internal';
        send({ kind: 'failed', code, message: messageOf(error) });
      }
    },
  );
});
