import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classifyFailure, classifyDeath } from '../../src/agent/failure.js';

describe('failures', () => {
  test('an error while the runtime opens a model makes the model unsupported', () => {
    assert.equal(classifyFailure(new Error('No Op registered for Foo'), 'open').reason, 'unsupported');
  });

  test('an error while the runtime runs a model is a failed run', () => {
    assert.equal(classifyFailure(new Error('Non-zero status code returned'), 'run').reason, 'run_failed');
  });

  // The messages of ONNX Runtime's arena, C++ and V8.
  const outOfMemory = [
    '/onnxruntime_src/bfc_arena.cc:359 Failed to allocate memory for requested buffer of size 70368744177664',
    'std::bad_alloc',
    'Array buffer allocation failed',
  ];
  for (const message of outOfMemory) {
    test(`"${message.slice(-40)}" means out of memory`, () => {
      assert.equal(classifyFailure(new Error(message), 'run').reason, 'out_of_memory');
    });
  }

  test('a message is one line of limited length', () => {
    const { message } = classifyFailure(new Error(`line one\n  line two ${'x'.repeat(5000)}`), 'run');
    assert.match(message, /^line one line two x{500,600}…$/);
  });

  test('a process that aborts for lack of memory ran out of memory', () => {
    const words = "terminate called after throwing an instance of 'std::bad_alloc'";
    assert.equal(classifyDeath(null, 'SIGABRT', words).reason, 'out_of_memory');
  });

  for (const [hasKilledForMemory, expected] of [
    [true, /was killed, most likely because the machine ran out of memory: last words$/],
    [undefined, /was killed, perhaps because the machine ran out of memory: last words$/],
    [false, /was killed from outside \(SIGKILL\); the kernel has ended nothing for lack of memory: last words$/],
  ] as const) {
    test(`a killed process is a crash; lack of memory is the reason: ${hasKilledForMemory}`, () => {
      const failure = classifyDeath(null, 'SIGKILL', 'last words', hasKilledForMemory);
      assert.equal(failure.reason, 'crashed');
      assert.match(failure.message, expected);
    });
  }

  test('a crash states how the process ended and its last output', () => {
    const failure = classifyDeath(null, 'SIGSEGV', 'something bad');
    assert.deepEqual(failure, {
      reason: 'crashed',
      message: 'the worker process ended by signal SIGSEGV: something bad',
    });
  });
});
