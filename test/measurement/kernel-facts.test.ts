import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kernelMemorySchema, poolSchema } from '../../src/measurement/kernel-facts-schema.js';
import {
  factsOfTags,
  FactsOverRuns,
  type KernelFacts,
  readKernelFacts,
  tagsOfFacts,
} from '../../src/measurement/kernel-facts.js';

/** The arguments of a kernel, under the names of ONNX Runtime. */
const ARGS = {
  op_name: 'Conv',
  parameter_size: '9408',
  activation_size: '602112',
  output_size: '3211264',
  mem_requested_in_use_delta: '-4096',
  mem_bytes_requested_in_use: '4000',
  mem_bytes_in_use: '4096',
  mem_in_use_peak: '8192',
  mem_arena_held: '16384',
  thread_scheduling_stats: {
    main_thread: { thread_pool_name: 'intra-op', Distribution: 1, Run: 20, Wait: 3 },
    sub_threads: {},
  },
};

const FACTS = {
  memory: {
    parameterBytes: 9408,
    activationBytes: 602_112,
    outputBytes: 3_211_264,
    allocatedBytes: -4096,
    requestedBytes: 4000,
    inUseBytes: 4096,
    peakBytes: 8192,
    arenaBytes: 16_384,
  },
  pool: { runUs: 20, waitUs: 3, distributionUs: 1 },
} satisfies KernelFacts;

const poolOf = (statistics: unknown) => readKernelFacts({ thread_scheduling_stats: statistics }).pool;

describe('the facts of a kernel', () => {
  test('are read from the arguments of an event', () => assert.deepEqual(readKernelFacts(ARGS), FACTS));

  test('survive as tags', () => {
    const tags = tagsOfFacts(FACTS);
    assert.equal(Object.keys(tags).length, 11);
    assert.equal(tags['peak_bytes'], 8192);
    assert.deepEqual(
      factsOfTags((name) => tags[name]),
      FACTS,
    );
  });

  test('are absent where they are not stated, not numbers, or cannot be true', () => {
    assert.deepEqual(readKernelFacts({}), {});
    assert.deepEqual(readKernelFacts({ output_size: '7 MB', activation_size: '10' }), {
      memory: { activationBytes: 10 },
    });
    assert.deepEqual(readKernelFacts({ output_size: '-1', activation_size: '10' }), {});
    for (const none of [undefined, null, 'x', {}, { main_thread: null }, { main_thread: { Run: 1, Wait: 1 } }])
      assert.equal(poolOf(none), undefined);
    assert.equal(poolOf({ main_thread: { Run: 1, Wait: -1, Distribution: 1 } }), undefined);
    assert.deepEqual(poolOf({ main_thread: { Run: 0, Wait: 0, Distribution: 0 } }), {
      runUs: 0,
      waitUs: 0,
      distributionUs: 0,
    });
  });

  test('of several runs are the memory of the first and the mean of the pool', () => {
    const over = new FactsOverRuns();
    assert.deepEqual(over.facts, {});
    over.add(FACTS);
    over.add({});
    over.add({ memory: { outputBytes: 1 }, pool: { runUs: 40, waitUs: 5, distributionUs: 3 } });
    assert.deepEqual(over.facts, { memory: FACTS.memory, pool: { runUs: 30, waitUs: 4, distributionUs: 2 } });
  });

  test('are valid where each one of the memory is absent; only the memory that was asked for may be below zero', () => {
    assert.deepEqual(poolSchema.parse(FACTS.pool), FACTS.pool);
    assert.deepEqual(kernelMemorySchema.parse(FACTS.memory), FACTS.memory);
    for (const name of Object.keys(FACTS.memory)) {
      assert.ok(kernelMemorySchema.safeParse({ ...FACTS.memory, [name]: undefined }).success, name);
      const negative = { ...FACTS.memory, [name]: -1 };
      assert.equal(kernelMemorySchema.safeParse(negative).success, name === 'allocatedBytes', name);
    }
  });
});
