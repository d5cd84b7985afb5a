import assert from 'node:assert/strict';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFakeAgent } from '../../support/fake-agent.js';
import { cacheOptimizedGraphs } from '../../../src/agent/client/optimized-graph-cache.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { flatten, inferredOfFlatten } from '../support/contract.js';
import { relu, runOptions } from '../support/tiny-benchmarks.js';

/** An agent that returns `flatten` as every optimized graph; `asked` counts the requests for one. */
function optimizer(processor: string) {
  let asked = 0;
  const agent = createFakeAgent({
    latencyOf: () => 1,
    processor,
    optimizedOf: () => {
      asked++;
      return { benchmark: flatten, values: inferredOfFlatten, costMs: 120 };
    },
  });
  return { agent, asked: () => asked };
}

test('a graph is optimized once, and the cache returns the same graph', async () => {
  await withTemporaryFolder(async (folder) => {
    const { agent, asked } = optimizer('one');
    const first = await cacheOptimizedGraphs(agent, folder).optimize(relu, runOptions);
    const again = await cacheOptimizedGraphs(agent, folder).optimize(relu, runOptions);

    assert.equal(asked(), 1);
    assert.deepEqual(again.values, new Map(first.values));
    assert.equal(again.costMs, 120, 'the cost of the first optimization');
    assert.deepEqual(Buffer.from(again.benchmark.model), Buffer.from(first.benchmark.model));
    assert.deepEqual(again.benchmark.inputs, first.benchmark.inputs);
  });
});

test('the folder of graphs is for its owner only', { skip: process.platform === 'win32' }, async () => {
  await withTemporaryFolder(async (folder) => {
    const made = join(folder, 'graphs');
    await cacheOptimizedGraphs(optimizer('one').agent, made).optimize(relu, runOptions);
    assert.equal((await stat(made)).mode & 0o077, 0);
  });
});

test('another system, other run options and another graph have entries of their own', async () => {
  await withTemporaryFolder(async (folder) => {
    const one = optimizer('one');
    const two = optimizer('two');
    await cacheOptimizedGraphs(one.agent, folder).optimize(relu, runOptions);
    await cacheOptimizedGraphs(two.agent, folder).optimize(relu, runOptions);
    await cacheOptimizedGraphs(one.agent, folder).optimize(relu, { ...runOptions, optimizationLevel: 'basic' });
    await cacheOptimizedGraphs(one.agent, folder).optimize(flatten, runOptions);

    assert.deepEqual([one.asked(), two.asked()], [3, 1]);
  });
});

test('a damaged file is made anew', async () => {
  await withTemporaryFolder(async (folder) => {
    const { agent, asked } = optimizer('one');
    await cacheOptimizedGraphs(agent, folder).optimize(relu, runOptions);
    for (const name of await readdir(folder)) await writeFile(join(folder, name), 'no graph');
    await cacheOptimizedGraphs(agent, folder).optimize(relu, runOptions);
    await cacheOptimizedGraphs(agent, folder).optimize(relu, runOptions);

    assert.equal(asked(), 2);
  });
});

test('a folder that cannot be written to only costs time', async () => {
  await withTemporaryFolder(async (folder) => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { agent, asked } = optimizer('one');
    const cached = cacheOptimizedGraphs(agent, join(file, 'below'));
    await cached.optimize(relu, runOptions);
    await cached.optimize(relu, runOptions);

    assert.equal(asked(), 2);
  });
});
