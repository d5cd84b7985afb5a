import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate } from '../../bench/generation/generate.js';
import { onnxRuntimePredictor } from '../../src/predictor/onnxruntime/predictor.js';
import { withTemporaryFolder } from '../onnx/temporary-folder.js';
import { smallDecoder } from '../plugins/dlbricks/support/small-decoder.js';

test('a decoder really generates tokens, each with the cache of the token before', { timeout: 60_000 }, async () => {
  const generated = await withTemporaryFolder((temporaryFolder) => {
    const place = { predictor: onnxRuntimePredictor(), threads: 1, temporaryFolder };
    // As long as the small decoder's sequence.
    const prompt = [5, 3, 8, 1, 9, 2];
    return generate(smallDecoder('prefill', 2), smallDecoder('decode', 2), prompt, 5, place);
  });
  assert.equal(generated.tokens.length, 5);
  // The small decoder knows 64 words.
  assert.ok(generated.tokens.every((token) => Number.isInteger(token) && token >= 0 && token < 64));
  assert.equal(generated.furtherTokensMs.length, 4);
  assert.ok([generated.firstTokenMs, ...generated.furtherTokensMs].every((ms) => ms > 0));
});
