import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messageOf } from '../../../src/base/errors.js';
import { explained } from '../../../src/predictor/onnxruntime-web/explained.js';

describe('an error of the WebAssembly runtime', () => {
  test('is described as a C++ exception if it is the address of one', () => {
    assert.match(messageOf(explained(14_720_840)), /C\+\+ exception/);
  });

  test('says that the runtime ended if it is a trap', () => {
    const error = messageOf(explained(new WebAssembly.RuntimeError('unreachable')));
    assert.match(error, /^the WebAssembly runtime ended: unreachable$/);
  });

  test('is left as it is if its message is clear', () => {
    const error = new Error('failed to call OrtRun(). ERROR_MESSAGE: Non-zero status code');
    assert.equal(explained(error), error);
  });
});
