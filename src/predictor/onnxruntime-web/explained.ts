import { messageOf } from '../../base/errors.js';

/** Something is too large for 32-bit addresses. */
const TOO_LARGE = /SafeIntOnOverflow|failed to allocate a buffer of size/;

/** Compiled code throws the address of a C++ exception, and ends with a trap or an abort where it cannot continue. */
export function explained(thrown: unknown): unknown {
  if (typeof thrown === 'number') return new Error(`the WebAssembly runtime threw a C++ exception (at ${thrown})`);
  const options = { cause: thrown };
  if (thrown instanceof WebAssembly.RuntimeError) {
    return new Error(`the WebAssembly runtime ended: ${thrown.message}`, options);
  }
  const message = messageOf(thrown);
  if (TOO_LARGE.test(message)) return new Error(`out of memory: WebAssembly has 4 GB at most; ${message}`, options);
  return thrown;
}
