import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fullDisk, machineFailure, memoryTaken, orOfMachine } from '../../src/agent/machine-failure.js';
import { ranOutOfMemory } from '../../src/agent/worker/job-end.js';
import { PlatformError } from '../../src/base/errors.js';

describe('a failure of the machine', () => {
  const failures: readonly [string, RegExp][] = [
    ['ENOSPC: no space left on device, write', /set TMPDIR/],
    ['[ONNXRuntimeError] : write failed: Disk quota exceeded', /set TMPDIR/],
    ['basic_filebuf::overflow: File too large', /ulimit -f/],
    ['SIGXFSZ', /ulimit -f/],
    ["EMFILE: too many open files, open 'model.onnx'", /ulimit -n/],
    ['terminate called: Resource temporarily unavailable', /ulimit -u/],
    ['Assertion failed: (0) == (uv_thread_create(t.get(), start_thread, this))', /ulimit -u/],
    ['EROFS: read-only file system, mkdir', /set TMPDIR/],
    ['EIO: i/o error, input/output error', /check the disk/],
  ];
  for (const [said, remedy] of failures) {
    it(`is recognized in "${said}"`, () => {
      const error = machineFailure(said, undefined);
      assert.equal(error?.code, 'storage');
      assert.match(error.message, /this machine failed, not the model/);
      assert.match(error.message, remedy);
      assert.ok(orOfMachine(new Error(said)) instanceof PlatformError);
    });
  }

  it('is none of the errors that a model causes', () => {
    const messages = [
      'std::bad_alloc',
      'Fatal error: MyOperator is not a registered function/op',
      'SIGSEGV',
      'SIGKILL',
    ];
    for (const said of messages) {
      assert.equal(machineFailure(said, undefined), undefined);
      const thrown = new Error(said);
      assert.equal(orOfMachine(thrown), thrown);
    }
    const usage = new PlatformError('usage', 'EMFILE: too many open files');
    assert.equal(orOfMachine(usage), usage);
  });

  it('is memory that others have taken, and not a model that is too large', () => {
    const GB = 1e9;
    const error = memoryTaken(1.2 * GB, 24 * GB);
    assert.equal(error?.code, 'storage');
    assert.match(error.message, /^only 1\.20 GB of 24\.00 GB of memory are left on this machine/);
    assert.equal(memoryTaken(6 * GB, 24 * GB), undefined);
    assert.equal(memoryTaken(undefined, 24 * GB), undefined);
    const outcome = { kind: 'failure', reason: 'out_of_memory', message: 'std::bad_alloc' } as const;
    const measured = { outcome, sessionMs: 1, costMs: 2, peakMemoryBytes: 3 };
    assert.ok(ranOutOfMemory({ kind: 'measured', measured: [measured] }));
    const crashed = { ...measured, outcome: { ...outcome, reason: 'crashed' } } as const;
    assert.ok(!ranOutOfMemory({ kind: 'measured', measured: [crashed] }));
  });

  it('is a full disk, whatever else was said', () => {
    const error = machineFailure('Protobuf serialization failed.', 'the disk of /tmp is full (0 KiB left)');
    assert.deepEqual([error?.code, error?.message], ['storage', 'the disk of /tmp is full (0 KiB left)']);
    assert.equal(fullDisk(join(tmpdir(), 'worker')), undefined);
  });
});
