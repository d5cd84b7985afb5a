import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messageOf } from '../../../src/base/errors.js';
import { explained } from '../../../src/predictor/onnxruntime-web/explained.js';

describe('what the WebAssembly runtime throws', () => {
  test('says that it is a C++ exception where it is the address of one', () => {
    assert.match(messageOf(explained(14_720_840)), /C\+\+ exception/);
  });

  test('says that the runtime ended where it is a trap', () => {
    const error = messageOf(explained(new WebAssembly.RuntimeError('unreachable')));
    assert.match(error, /^the WebAssembly runtime ended: unreachable$/);
  });

  test('is left as it is where it says enough', () => {
    const error = new Error('failed to call OrtRun(). ERROR_MESSAGE: Non-zero status code');
    assert.equal(explained(error), error);
  });
});
