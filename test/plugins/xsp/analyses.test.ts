import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import xsp from '../../../plugins/xsp/index.js';
import { PlatformError } from '../../../src/base/errors.js';
import type { Analysis, AnalysisTable } from '../../../src/evaluation/analysis.js';
import { runAnalysis } from '../../../src/evaluation/run/run-analysis.js';
import { readTrace } from '../../../src/foreign-traces/read-trace.js';
import { readProfile } from '../../../src/predictor/onnxruntime/read-profile.js';
import { createFakeAgent } from '../../support/fake-agent.js';
import { identifySystem, buildRunOptions } from '../../../src/measurement/system.js';
import { peakTasks } from '../../../src/measuring/machine-peaks.js';
import { kernelTraces } from '../../../src/agent/jobs/trace-benchmark.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { buildTracedModel } from '../../../src/traced/traced-kernels.js';
import { storeTraces } from '../../../src/traced/traced-models.js';
import { sampleMeasurement } from '../../store/sample-measurement.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

/** A kernel of a profile: bytes of its parameters, inputs and outputs, what it asked for, and what is in use then. */
interface Event {
  readonly name: string;
  readonly op: string;
  readonly us: number;
  readonly inputs: readonly (readonly number[])[];
  readonly output: readonly number[];
  readonly bytes: readonly [parameters: number, inputs: number, output: number, asked: number, inUse: number];
  readonly pool?: readonly [run: number, wait: number, distribution: number];
}

/** Three kernels as ONNX Runtime writes them, two runs; the second Relu works in place. */
const EVENTS: readonly Event[] = [
  {
    name: 'conv',
    op: 'Conv',
    us: 400,
    inputs: [[1, 8, 32, 32], [16, 8, 3, 3], [16]], // prettier-ignore
    output: [1, 16, 30, 30],
    bytes: [4672, 32_768, 57_600, 57_600, 57_600],
    pool: [300, 60, 20],
  },
  {
    name: 'relu',
    op: 'Relu',
    us: 100,
    inputs: [[1, 16, 30, 30]],
    output: [1, 16, 30, 30],
    bytes: [0, 57_600, 57_600, 57_600, 115_200],
    pool: [80, 10, 5],
  },
  {
    name: 'again',
    op: 'Relu',
    us: 50,
    inputs: [[1, 16, 30, 30]],
    output: [1, 16, 30, 30],
    bytes: [0, 57_600, 57_600, 0, 57_600],
  },
];

const GAP_US = 30;

function profile({ isOld = false } = {}): string {
  const floats = (shapes: readonly (readonly number[])[]): unknown => shapes.map((dims) => ({ float: dims }));
  const events: object[] = [];
  let ts = 0;
  for (const run of [0, 1]) {
    const started = ts;
    for (const [index, { name, op, us, inputs, output, bytes, pool }] of EVENTS.entries()) {
      const dur = us + 10 * run;
      const [parameters, read, written, asked, inUse] = bytes.map(String);
      const [Run, Wait, Distribution] = pool ?? [];
      const memory = {
        parameter_size: parameters,
        activation_size: read,
        output_size: written,
        mem_requested_in_use_delta: asked,
        mem_bytes_requested_in_use: inUse,
        mem_bytes_in_use: inUse,
        mem_in_use_peak: '115200',
        thread_scheduling_stats: pool === undefined ? '' : { main_thread: { Run, Wait, Distribution } },
      };
      const args = {
        op_name: op,
        provider: 'CPUExecutionProvider',
        node_index: String(index),
        input_type_shape: floats(inputs),
        output_type_shape: floats([output]),
        ...(isOld ? {} : memory),
      };
      events.push({ cat: 'Node', name: `${name}_kernel_time`, ph: 'X', ts, dur, args });
      ts += dur;
    }
    ts += GAP_US;
    events.push({ cat: 'Session', name: 'model_run', ph: 'X', ts: started, dur: ts - started, args: {} });
  }
  return `[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]\n`;
}

/** The same profile in two stores: as `import` keeps it, and as `trace model` keeps what its agent read. */
async function bothSources(
  t: TestContext,
  options?: { isOld: boolean },
): Promise<readonly [imported: ResultStore, traced: ResultStore]> {
  const path = join(await temporaryFolder(t), 'net.json');
  await writeFile(path, profile(options));
  const imported = await openMemoryStore();
  const traced = await openMemoryStore();
  const models = await readTrace(path, { model: 'net' });
  await storeTraces(models.map((model) => ({ ...model, system: 'here' })), imported, new Date()); // prettier-ignore
  const runs = await readProfile(path);
  const tracedWholeMs = runs.map(({ durationNs }) => durationNs / 1e6);
  const about = { model: 'net', system: 'here', source: 'trace', traceIds: [], wholeMs: [], tracedWholeMs };
  await storeTraces([buildTracedModel(kernelTraces(runs), about)], traced, new Date());
  return [imported, traced];
}

/** Of the author's Conv, Relu and Relu: the first kernel computes two of them. */
const SOURCES = new Map([
  [
    '0',
    [
      { index: 0, name: 'author-conv', operator: 'Conv', share: 0.75 },
      { index: 1, name: 'author-relu', operator: 'Relu', share: 0.25 },
    ],
  ],
  ['1', [{ index: 1, name: 'author-relu', operator: 'Relu', share: 1 }]],
]);

const AGENT = createFakeAgent({ latencyOf: () => 1 });

/** A trace of this machine, whose peaks are 100 GFLOP/s and 1 GB/s, with the layers of the author. */
async function tracedHere(
  t: TestContext,
  systemNames: readonly string[] = ['here'],
  wholeMs = 0.5,
): Promise<ResultStore> {
  const path = join(await temporaryFolder(t), 'net.json');
  await writeFile(path, profile());
  const store = await openMemoryStore();
  const runs = await readProfile(path);
  const system = identifySystem(AGENT.description, buildRunOptions(2));
  for (const name of systemNames) {
    const about = {
      model: 'net',
      system: name,
      source: 'trace',
      traceIds: [],
      wholeMs: [wholeMs],
      tracedWholeMs: [0.6],
    };
    const own = { system, host: 'host', batch: 1 };
    await storeTraces([buildTracedModel(kernelTraces(runs), about, SOURCES)], store, new Date(), own);
  }
  for (const { label, request } of peakTasks(AGENT.description, system.runOptions)) {
    const [, side = '0'] = /^MatMul of (\d+) x/.exec(label) ?? [];
    const [, megabytes = '0'] = /Add with ([\d.]+) MB/.exec(label) ?? [];
    const ms = 1 + (2 * Number(side) ** 3) / 100e6 + Number(megabytes);
    const { benchmark, runOptions, protocol } = request;
    const outcome = { kind: 'samples' as const, runMs: [ms], warmupMs: [] };
    const of = { signature: benchmark.signature, system: identifySystem(AGENT.description, runOptions) };
    await store.putMeasurement(sampleMeasurement(0, { ...of, protocol, outcome }));
  }
  return store;
}

function named(name: string): Analysis {
  return (xsp.analyses ?? []).find((one) => one.name === name) ?? assert.fail(name);
}

async function tableOf(name: string, store: ResultStore, settings: object = {}): Promise<AnalysisTable> {
  return runAnalysis(named(name), { batch: 1, ...settings }, { store, signal: new AbortController().signal });
}

const column = ({ rows }: AnalysisTable, key: string): unknown[] => rows.map((row) => row[key]);

const total = (table: AnalysisTable, key: string): number => table.rows.reduce((sum, row) => sum + Number(row[key]), 0);

describe('the analyses of XSP', () => {
  for (const { name } of xsp.analyses ?? []) {
    test(`${name}: the same table of a stored and of an imported trace`, async (t) => {
      const [imported, traced] = await bothSources(t);
      const a = await tableOf(name, imported);
      const b = await tableOf(name, traced);
      assert.ok(a.rows.length > 0);
      assert.deepEqual(a.rows, b.rows);
      assert.deepEqual(a.columns, b.columns);
      // Tables show a dash.
      assert.doesNotMatch([...a.notes, ...b.notes].join(' '), /\bnull\b/);
    });

    test(`${name}: with columns that describe the machine`, async (t) => {
      const store = await tracedHere(t);
      const own = await tableOf(name, store);
      const { columns, rows } = await tableOf(name, store, { base: true });
      assert.deepEqual(columns.slice(0, own.columns.length), own.columns);
      const expected = { hostname: 'host', batch_size: 1, theoretical_gflops: 100 };
      for (const row of rows) for (const [key, value] of Object.entries(expected)) assert.equal(row[key], value, key);
    });
  }

  test('A1: the runs with the profile, where there are no others, and so it says', async (t) => {
    const [imported] = await bothSources(t);
    const table = await tableOf('model', imported);
    // Runs of 580 and 610 µs.
    assert.deepEqual(column(table, 'duration'), [595]);
    assert.match(table.notes.join(' '), /too high/);
  });

  test('A2 and A4: memory of the first run, exactly; what a processor lacks is null with its reason', async (t) => {
    const [imported] = await bothSources(t);
    const layers = await tableOf('layers', imported);
    assert.deepEqual(column(layers, 'allocated_bytes'), [57_600, 57_600, 0]);
    assert.deepEqual(column(layers, 'device_temp_bytes'), [null, null, null]);
    assert.match(layers.notes.join(' '), /device temporary.*a processor has no such value/);
    const memory = await tableOf('layer-memory', imported);
    assert.equal(Math.max(...column(memory, 'requested_bytes_in_use').map(Number)), 115_200);
    assert.match(
      (await tableOf('summary', imported)).rows.map(({ found }) => found).join('\n'),
      /115,200 bytes after Relu relu/,
    );
  });

  test('summary: a cost of tracing below zero is not seen', async (t) => {
    const costAt = async (wholeMs: number): Promise<unknown> => {
      const { rows } = await tableOf('summary', await tracedHere(t, ['here'], wholeMs));
      return rows.find(({ what }) => what === 'cost of tracing')?.['found'];
    };
    assert.equal(await costAt(0.5), '0.100 ms (20.0 %)');
    assert.equal(await costAt(0.7), 'not seen: runs differ by more than it (by 0.100 ms)');
  });

  test('A3: quartiles of two runs', async (t) => {
    const [imported] = await bothSources(t);
    const [first] = (await tableOf('layer-latency', imported)).rows;
    assert.deepEqual([first?.['min_us'], first?.['median_us'], first?.['max_us']], [400, 405, 410]);
  });

  test('A5, A6, A7: shares add up to 100 %', async (t) => {
    const [imported] = await bothSources(t);
    assert.deepEqual(column(await tableOf('types', imported), 'occurrences'), [2, 1]);
    for (const [name, key] of [
      ['types', 'occurrences'],
      ['type-latency', 'duration'],
      ['type-memory', 'allocated_bytes'],
    ] as const) {
      assert.ok(Math.abs(total(await tableOf(name, imported), `${key}_percent`) - 100) < 1e-9, name);
    }
    const time = await tableOf('type-latency', imported);
    const kernels = await tableOf('kernels', imported);
    assert.ok(Math.abs(total(time, 'duration') - total(kernels, 'duration')) < 1e-9);
  });

  test('A8: operations, bytes, and the share of the pool', async (t) => {
    const [imported] = await bothSources(t);
    const [conv] = (await tableOf('kernels', imported)).rows;
    const operations = 2 * 16 * 30 * 30 * 8 * 3 * 3;
    assert.equal(conv?.['flops'], operations);
    assert.equal(conv?.['dram_read_bytes'], 4672 + 32_768);
    assert.equal(conv?.['dram_write_bytes'], 57_600);
    assert.ok(Math.abs(Number(conv?.['achieved_occupancy']) - (100 * 300) / 360) < 1e-9);
    assert.ok(Math.abs(Number(conv?.['arithmetic_throughput']) - operations / 405e-6 / 1e9) < 1e-9);
    assert.equal(conv?.['memory_bound'], null);
  });

  test('A10: the first occurrence counts', async (t) => {
    const [imported] = await bothSources(t);
    const table = await tableOf('kernel-groups', imported);
    assert.deepEqual(column(table, 'kernel_count'), [1, 2]);
    assert.equal(table.rows[1]?.['kernel_name'], 'Relu float32');
  });

  test('A9 and A14: below the roofs of the machine; what is above one says why', async (t) => {
    const store = await tracedHere(t);
    const [conv, relu] = (await tableOf('kernel-roofline', store)).rows;
    const operations = 2 * 16 * 30 * 30 * 8 * 3 * 3;
    const intensity = operations / (4672 + 32_768 + 57_600);
    assert.ok(Math.abs(Number(conv?.['roof']) / intensity - 1) < 0.01, 'less than the peak of arithmetic');
    assert.ok(Math.abs(Number(conv?.['roof_percent']) / (operations / 405e-6 / 1e7 / intensity) - 1) < 0.01);
    assert.equal(conv?.['memory_bound'], 'yes');
    assert.ok(Math.abs(Number(relu?.['roof_percent']) - (100 * (115_200 / 105e-6)) / 1e9) < 1);
    assert.equal(relu?.['remark'], 'cached: faster than memory');
    const [layer] = (await tableOf('layer-roofline', store)).rows;
    assert.deepEqual([layer?.['layer_name'], layer?.['roof']], ['author-conv', conv?.['roof']]);
  });

  test('A11 and A12: on the layers of the author; what computes none of them comes last', async (t) => {
    const store = await tracedHere(t);
    const layers = await tableOf('layer-kernels', store);
    const kernels = await tableOf('kernels', store);
    assert.deepEqual(column(layers, 'layer_name'), ['author-conv', 'author-relu', 'again']);
    assert.deepEqual(column(layers, 'layer_index'), [0, 1, null]);
    assert.deepEqual(column(layers, 'kernels'), ['conv', 'conv, relu', 'again']);
    const us = column(layers, 'layer_duration').map((value) => Number(Number(value).toFixed(6)));
    assert.deepEqual(us, [0.75 * 405, 0.25 * 405 + 105, 55]);
    assert.deepEqual(column(layers, 'pool_run'), [0.75 * 300, 0.25 * 300 + 80, null]);
    for (const key of ['flops', 'dram_read_bytes', 'dram_write_bytes']) {
      for (const name of ['layer-kernels', 'layer-work']) {
        const table = await tableOf(name, store);
        assert.ok(Math.abs(total(table, key) - total(kernels, key)) < 1e-6, `${name} ${key}`);
        assert.match(table.notes.join(' '), /as the runtime executes them.*dlbricks layers' counts the .* author's/);
      }
    }
  });

  test('several systems are in one table', async (t) => {
    const table = await tableOf('models', await tracedHere(t, ['one', 'another']));
    assert.deepEqual(column(table, 'system').sort(), ['another', 'one']);
    assert.ok(table.columns.some(({ key }) => key === 'system'));
  });

  test('A13: parts add up to the model', async (t) => {
    const [imported] = await bothSources(t);
    const table = await tableOf('gaps', imported);
    assert.ok(Math.abs(total(table, 'duration') - 0.595) < 1e-9);
    assert.ok(Math.abs(total(table, 'duration_percent') - 100) < 1e-9);
    assert.ok(Math.abs(Number(table.rows.at(-1)?.['duration']) - GAP_US / 1000) < 1e-9);
  });

  test('a profile of an older runtime: null with a reason, never zero', async (t) => {
    for (const store of await bothSources(t, { isOld: true })) {
      const layers = await tableOf('layers', store);
      assert.deepEqual(column(layers, 'allocated_bytes'), [null, null, null]);
      assert.match(layers.notes.join(' '), /does not state memory/);
      assert.deepEqual(column(await tableOf('kernels', store), 'achieved_occupancy'), [null, null, null]);
      const [conv] = (await tableOf('kernels', store)).rows;
      assert.equal(conv?.['dram_read_bytes'], 4672 + 32_768, 'bytes follow from shapes');
    }
  });

  test('pictures where the original has one', async (t) => {
    const [imported] = await bothSources(t);
    for (const name of ['layers', 'layer-memory', 'types', 'kernel-roofline', 'gaps', 'models']) {
      assert.match(named(name).draw?.(await tableOf(name, imported)) ?? '', /^<svg /, name);
    }
  });

  test('a roofline without roofs says how to get them', async (t) => {
    const [imported] = await bothSources(t);
    const { notes, ...table } = await tableOf('kernel-roofline', imported);
    const picture = named('kernel-roofline').draw?.({ ...table, notes }) ?? '';
    for (const text of [notes.join(' '), picture])
      assert.match(text, /mlmodelscope machine --threads N.{0,5} measures them/);
    const withRoofs = named('kernel-roofline').draw?.(await tableOf('kernel-roofline', await tracedHere(t))) ?? '';
    assert.doesNotMatch(withRoofs, /no roofs/);
  });

  test('a model that is not there, and a machine that is not', async (t) => {
    const [imported] = await bothSources(t);
    const codeOf = (settings: object): Promise<unknown> =>
      tableOf('kernels', imported, settings).catch((error: unknown) => error);
    for (const settings of [{ model: 'other' }, { machine: 'ffff' }]) {
      const error = await codeOf(settings);
      assert.ok(error instanceof PlatformError && error.code === 'usage', JSON.stringify(settings));
    }
    assert.match(String(await codeOf({ model: 'other' })), /there are net/);
    assert.match(String(await codeOf({ model: 'net', system: 'zzz' })), /no trace of net on zzz; there are here$/);
  });

  test('a batch that no trace has, and a machine that is not, also where a trace states its own', async (t) => {
    const store = await tracedHere(t);
    await assert.rejects(tableOf('kernels', store, { batch: 7 }), {
      code: 'usage',
      message: 'the store has no trace with batch 7; there are batch 1',
    });
    await assert.rejects(tableOf('kernels', store, { machine: 'ffff' }), { code: 'usage', message: /is no system/ });
  });
});
