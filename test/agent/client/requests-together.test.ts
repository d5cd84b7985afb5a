import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MeasureRequest } from '../../../src/agent/benchmark-agent.js';
import { requestsTogether } from '../../../src/agent/client/requests-together.js';
import { setupOf } from '../support/measure-one.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

const CONTEXT = { footprintBytes: 2 ** 20 };

function request(changes: Partial<MeasureRequest> = {}): MeasureRequest {
  return { benchmark: relu, runOptions, ...setupOf(protocol), context: CONTEXT, ...changes };
}

function groupsOf(requests: readonly MeasureRequest[]): readonly (readonly number[])[] {
  return requestsTogether(requests).map((group) => group.map(({ index }) => index));
}

describe('requests of one call', () => {
  test('are those with a context that follow each other', () => {
    assert.deepEqual(groupsOf([request(), request(), request({ context: undefined }), request()]), [[0, 1], [2], [3]]);
  });

  test('may have different contexts', () => {
    assert.deepEqual(groupsOf([request(), request({ context: { footprintBytes: 2 ** 22 } })]), [[0, 1]]);
  });

  test('are all measured in the same way, on the same occasion', () => {
    const threads = { ...runOptions, threads: 2 };
    const { runs } = protocol;
    const longer = { ...setupOf(protocol).protocol, runs: runs + 1 };
    for (const other of [{ occasion: 2 }, { runOptions: threads }, { protocol: longer }]) {
      assert.deepEqual(groupsOf([request(), request(other)]), [[0], [1]]);
    }
  });

  test('fit into a message', () => {
    const large = { ...relu, model: new Uint8Array(9 * 2 ** 20) };
    assert.deepEqual(groupsOf([request({ benchmark: large }), request({ benchmark: large })]), [[0], [1]]);
    const many = groupsOf(Array.from({ length: 4500 }, () => request()));
    assert.deepEqual(
      many.map(({ length }) => length),
      [2000, 2000, 500],
    );
  });
});
