import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwatchedTimes } from '../../../src/agent/jobs/idle-node.js';
import { IDLE_INPUTS } from '../../../src/composite/composite.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { onnxRuntimePredictor } from '../../../src/predictor/onnxruntime/predictor.js';
import { fakePredictor } from '../support/fake-context.js';
import { runOptions } from '../support/tiny-benchmarks.js';

test('an idle node takes what a graph with more of them takes longer, and a call takes the rest', async () => {
  let nowNs = 0n;
  const predictor = fakePredictor({});
  // The times are kept by run options, and other tests of this process have the usual ones.
  const { nodeMs, callMs } = await unwatchedTimes(
    { ...runOptions, threads: 3 },
    {
      nowNs: () => nowNs,
      predictor: {
        ...predictor,
        // A call takes half a millisecond, and an idle node 1 µs for each input.
        open: (source, options) => {
          assert.ok(source.kind === 'bytes');
          const { nodes } = parseModel(source.bytes, 'idle').graph;
          const inputs = nodes.filter(({ name }) => name !== 'joined').flatMap((node) => node.inputs);
          const execute = (): Promise<void> => Promise.resolve(void (nowNs += BigInt(500_000 + 1000 * inputs.length)));
          return fakePredictor({ execute }).open(source, options);
        },
      },
    },
  );
  const rounded = [...nodeMs].map(([inputs, ms]) => [inputs, Math.round(ms * 1e6)]);
  assert.deepEqual(
    rounded,
    IDLE_INPUTS.map((inputs) => [inputs, 1000 * inputs]),
  );
  assert.equal(callMs.toFixed(6), '0.500000');
});

test('the runtime runs graphs of idle nodes, once for each run options', async () => {
  let looks = 0;
  const machine = { predictor: onnxRuntimePredictor(), nowNs: () => BigInt(1000 * looks++) };
  const options = { ...runOptions, optimizationLevel: 'disabled', threads: 2 } as const;
  const first = await unwatchedTimes(options, machine);
  const looksOnce = looks;
  // Two graphs for each number of inputs, and two looks at the clock in each of 60 runs, of which 10 are dropped.
  assert.equal(looksOnce, 2 * IDLE_INPUTS.length * (60 + 50));
  assert.equal(await unwatchedTimes({ ...options }, machine), first);
  assert.equal(looks, looksOnce);
});
