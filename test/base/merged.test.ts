import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { merged } from '../../src/base/merged.js';

async function* counting(name: string, count: number, turns: number): AsyncGenerator<string> {
  for (let index = 0; index < count; index++) {
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    yield `${name}${index}`;
  }
}

describe('merged sources', () => {
  it('give every value once, each source in its order, and none waits for a slower one', async () => {
    const values: string[] = [];
    for await (const value of merged([counting('a', 3, 20), counting('b', 3, 1)])) values.push(value);
    assert.deepEqual(values.toSorted(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
    assert.deepEqual(
      values.filter((value) => value.startsWith('a')),
      ['a0', 'a1', 'a2'],
    );
    assert.ok(values.indexOf('b2') < values.indexOf('a1'), values.join());
  });

  it('end with the error of one source, after the others are stopped and closed', async () => {
    const stopped = new AbortController();
    const left: string[] = [];
    async function* waiting(): AsyncGenerator<string> {
      try {
        yield 'first';
        await new Promise<void>((resolve) => stopped.signal.addEventListener('abort', () => resolve()));
      } finally {
        left.push('waiting');
      }
    }
    async function* failing(): AsyncGenerator<string> {
      yield* counting('a', 2, 3);
      throw new Error('broken');
    }
    const all = merged([waiting(), failing()], () => stopped.abort());
    const values: string[] = [];
    await assert.rejects(async () => {
      for await (const value of all) values.push(value);
    }, /broken/);
    assert.deepEqual(values, ['first', 'a0', 'a1']);
    assert.deepEqual(left, ['waiting']);
  });

  it('are closed when the reader stops', async () => {
    const left: string[] = [];
    async function* endless(name: string): AsyncGenerator<string> {
      try {
        for (;;) {
          await setImmediate();
          yield name;
        }
      } finally {
        left.push(name);
      }
    }
    for await (const value of merged([endless('a'), endless('b')])) {
      assert.ok(value.length > 0);
      break;
    }
    assert.deepEqual(left.toSorted(), ['a', 'b']);
  });
});
