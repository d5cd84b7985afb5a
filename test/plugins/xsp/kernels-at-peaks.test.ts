import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { buildRunOptions, identifySystem, optimizedRun } from '../../../src/measurement/system.js';
import { KnownResults } from '../../../src/measuring/known-results.js';
import { computePeaks, type PeakKind, peakTasks } from '../../../src/measuring/machine-peaks.js';
import { Measuring } from '../../../src/measuring/measuring.js';
import { RunProgress } from '../../../src/measuring/run-progress.js';
import { loadModel } from '../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { agentForSuite } from '../../agent/support/running-agent.js';
import { floats, model, node, value } from '../../onnx/protos.js';
import { assertSomeRatio } from '../../support/some-ratio.js';
import { estimateOnce } from '../dlbricks/support/estimate-once.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

const folder = await temporaryFolder({ after });

const PROTOCOL = { warmupRuns: 1, runs: 20, minRuns: 5, timeBudgetMs: 3000 };

const TOLERANCE = 0.1;

const SIDE = 1024;
const ELEMENTS = 12_582_912;

interface Kernel {
  readonly operator: string;
  readonly peak: PeakKind;
  /** Its benchmarks among those of the peaks. */
  readonly probes: RegExp;
  /** Operations or bytes of one run. */
  readonly amount: number;
  readonly bytes: Uint8Array;
}

const KERNELS: readonly Kernel[] = [
  {
    operator: 'MatMul',
    peak: 'float32',
    probes: /^MatMul of 1024/,
    amount: 2 * SIDE ** 3,
    bytes: model({
      input: [value('a', [SIDE, SIDE])],
      node: [node('MatMul', ['a', 'b'], ['c'])],
      initializer: [floats('b', Array.from({ length: SIDE * SIDE }, (_, at) => Math.sin(at)), [SIDE, SIDE])], // prettier-ignore
      output: [value('c', [SIDE, SIDE])],
    }),
  },
  {
    operator: 'Add',
    peak: 'memory',
    probes: /^Add with/,
    amount: 3 * 4 * ELEMENTS,
    bytes: model({
      input: [value('a', [ELEMENTS]), value('b', [ELEMENTS])],
      node: [node('Add', ['a', 'b'], ['c']), node('ReduceSum', ['c'], ['d'])],
      initializer: [],
      output: [value('d', [1])],
    }),
  },
];

describe('a kernel that does nothing but what a peak counts', { timeout: 480_000 }, () => {
  const agent = agentForSuite();

  /** 10⁹ operations or bytes in a second. */
  async function measurePeak({ peak, probes }: Kernel): Promise<number> {
    const { client } = agent();
    const { description } = client;
    const runOptions = optimizedRun(buildRunOptions(1, description));
    const all = peakTasks(description, runOptions);
    // The largest: the others are of caches.
    const sizeOf = (label: string): number => Number(/\d+/.exec(label)?.[0]);
    const [probe] = all.filter(({ label }) => probes.test(label)).toSorted((a, b) => sizeOf(b.label) - sizeOf(a.label));
    const tasks = [probe, all.find(({ label }) => /without/.test(label))].filter((task) => task !== undefined);
    assert.equal(tasks.length, 2, all.map(({ label }) => label).join());
    const results = new KnownResults();
    const { signal } = new AbortController();
    const context = { agent: client, store: await openMemoryStore(), signal, onEvent: () => {} };
    const measuring = new Measuring(context, identifySystem(description, runOptions), results, new RunProgress());
    await measuring.measure(tasks, { kind: 'none' });
    return computePeaks(description, runOptions, results).get(peak)?.value ?? assert.fail();
  }

  async function measureKernel({ operator, amount }: Kernel, path: string): Promise<number> {
    const models = [await loadModel(path, { batch: 1 })];
    const { report } = await estimateOnce(models, {}, { agent: agent().client, protocol: PROTOCOL });
    const brick = report.models[0]?.bricks.find(({ operators }) => operators.join() === operator);
    return amount / (brick?.latency_ms ?? assert.fail()) / 1e6;
  }

  for (const kernel of KERNELS) {
    test(`is within 10 % of it: ${kernel.operator}`, async () => {
      const path = join(folder, `${kernel.operator}.onnx`);
      writeFileSync(path, kernel.bytes);
      const measure = async (): Promise<number> => {
        const peak = await measurePeak(kernel);
        return (await measureKernel(kernel, path)) / peak;
      };
      await assertSomeRatio(measure, (ratio) => Math.abs(ratio - 1) <= TOLERANCE);
    });
  }
});
