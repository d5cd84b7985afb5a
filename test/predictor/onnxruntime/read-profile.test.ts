import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { readProfile } from '../../../src/predictor/onnxruntime/read-profile.js';
import type { ProfiledRun } from '../../../src/predictor/profile.js';
import { INHERITED_NAMES } from '../../base/inherited-names.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';

/** A node's event as ONNX Runtime 1.30 writes it, without the fields that are not read. */
function node(name: string, opName: string, ts: number, dur: number): object {
  const shapes = { input_type_shape: [{ float: [1, 3] }], output_type_shape: [{ float: [1, 4] }, { int64: [2] }] };
  return {
    cat: 'Node',
    pid: 1,
    tid: 1,
    dur,
    ts,
    ph: 'X',
    name: `${name}_kernel_time`,
    args: { op_name: opName, ...shapes },
  };
}

function run(ts: number, dur: number): object {
  return { cat: 'Session', pid: 1, tid: 1, dur, ts, ph: 'X', name: 'model_run', args: {} };
}

/** One event on each line, as the runtime writes them. */
function read(events: readonly object[]): Promise<readonly ProfiledRun[]> {
  return readText(`[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]\n`);
}

function readText(text: string): Promise<readonly ProfiledRun[]> {
  return withTemporaryFolder(async (folder) => {
    await writeFile(join(folder, 'profile.json'), text);
    return readProfile(join(folder, 'profile.json'));
  });
}

describe("the runtime's profile", () => {
  test('is an error of the machine where the runtime could not write all of it', async () => {
    const whole = `[\n${[node('a', 'Conv', 102, 5), run(100, 10)].map((event) => JSON.stringify(event)).join(',\n')}\n]\n`;
    assert.equal((await readText(whole)).length, 1);
    for (const length of [0, 1, whole.length >> 1, whole.length - 3]) {
      await assert.rejects(readText(whole.slice(0, length)), (error) => {
        assert.ok(error instanceof PlatformError && error.code === 'storage', String(error));
        assert.match(error.message, /disk is full.*TMPDIR/);
        return true;
      });
    }
  });

  test('is split into runs, whose kernels start with the run', async () => {
    const runs = await read([
      { cat: 'Session', dur: 9, ts: 1, ph: 'X', name: 'session_initialization', args: {} },
      node('a', 'Conv', 102, 5),
      node('b', 'Relu', 108, 0),
      run(100, 10),
      node('a', 'Conv', 203, 4),
      run(200, 8),
    ]);

    assert.deepEqual(
      runs.map(({ durationNs }) => durationNs),
      [10_000, 8000],
    );
    assert.deepEqual(
      runs.map(({ kernels }) => kernels.map(({ name, startNs, durationNs }) => [name, startNs, durationNs])),
      [
        [
          ['a', 2000, 5000],
          ['b', 8000, 0],
        ],
        [['a', 3000, 4000]],
      ],
    );
  });

  test('names the operator of a kernel, and the shapes of its inputs and outputs', async () => {
    const [first] = await read([node('a', 'Conv', 102, 5), run(100, 10)]);
    const [kernel] = first?.kernels ?? [];

    assert.equal(kernel?.opType, 'Conv');
    assert.deepEqual([kernel?.inputDims, kernel?.outputDims], [[[1, 3]], [[1, 4], [2]]]);
    assert.equal(kernel?.elementType, 'float32');
  });

  test("has a subgraph's kernels inside of the operator that executed them, which ends after them", async () => {
    const [first] = await read([
      node('before', 'Relu', 101, 1),
      node('inside', 'Add', 103, 1),
      node('again', 'Add', 105, 1),
      node('loop', 'Loop', 103, 4),
      node('after', 'Relu', 108, 1),
      run(100, 10),
    ]);

    assert.deepEqual(
      first?.kernels.map(({ name, inner }) => [name, inner.map((kernel) => kernel.name)]),
      [
        ['before', []],
        ['loop', ['inside', 'again']],
        ['after', []],
      ],
    );
  });

  test('is refused if its format is unknown', async () => {
    const kernel = node('a', 'Conv', 1, 1);
    const strange = [
      { dur: 'long' },
      { ts: -1 },
      { name: 1 },
      { args: undefined },
      { args: {} },
      { args: { op_name: 'Conv', provider: 1 } },
      { args: { op_name: 'Conv', input_type_shape: { float: [1] } } },
      { args: { op_name: 'Conv', output_type_shape: ['float'] } },
      { args: { op_name: 'Conv', output_type_shape: [{ float: [1.5] }] } },
      { args: { op_name: 'Conv', output_type_shape: [{ float: 1 }] } },
    ];
    for (const fields of strange) {
      await assert.rejects(read([{ ...kernel, ...fields }, run(0, 2)]), (error) => {
        return error instanceof PlatformError && error.code === 'unsupported';
      });
    }
    assert.equal((await read([kernel, run(0, 2)])).length, 1);
  });

  test('may name operators and element types like properties that every object inherits', async () => {
    for (const name of INHERITED_NAMES) {
      const event = `{"cat":"Node","dur":1,"ts":1,"name":"a_kernel_time","args":{"op_name":"${name}","output_type_shape":[{"${name}":[1]}]}}`;
      const [first] = await readText(`[\n${event},\n${JSON.stringify(run(0, 5))}\n]`);
      const [kernel] = first?.kernels ?? [];
      assert.equal(kernel?.opType, name);
      assert.equal(kernel.elementType, name);
    }
  });
});
