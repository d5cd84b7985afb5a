import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { InferenceSession, Tensor } from '../../../../src/predictor/onnxruntime/library.js';
import { type TraceReport, traceReportSchema } from '../../../../plugins/dlbricks/traces/trace-report.js';
import { encodeModelToBytes } from '../../../../src/onnx/write/write-model.js';
import { floatTensor, GraphBuilder } from '../support/graph-builder.js';
import { deadline, type Workplace } from '../../../cli/support/command.js';
import { convModel } from '../../../cli/support/conv-model.js';
import { assertOneMessage, reportIn } from '../../../cli/support/report.js';
import { AS_STORED, chain, FOUR_LAYERS, LAYER_CUT, ONCE, QUICK } from '../../../cli/support/tiny-models.js';
import { workplaceHere } from '../../../cli/support/workplace-here.js';

const FIXTURES = join(import.meta.dirname, '../../../../../test/foreign-traces/fixtures');
const JAEGER = join(FIXTURES, 'jaeger.json');

const TABLE = `model,system,index,op,input_shapes,output_shapes,duration_ms
net,here,0,Conv,1x3x8x8;4x3x3x3,1x4x8x8,2
net,here,1,Relu,1x4x8x8,1x4x8x8,1
net,here,,,,,3.5
`;

async function composed(
  place: Workplace,
  ...args: readonly string[]
): Promise<{ readonly report: TraceReport; readonly code: number | null }> {
  const { stdout, stderr, code } = await place.run(['dlbricks', 'compose', ...args, '--export-json', '-', '--quiet']);
  assert.notEqual(stdout, '', stderr);
  return { report: traceReportSchema.parse(JSON.parse(stdout)), code };
}

/** The path of the profile that ONNX Runtime writes for three runs of a model. */
async function profileOf(
  place: Workplace,
  model: string,
  sizes: Readonly<Record<string, number>> = {},
): Promise<string> {
  const session = await InferenceSession.create(model, {
    enableProfiling: true,
    profileFilePrefix: place.path('profile'),
    intraOpNumThreads: 1,
  });
  const feeds: Record<string, Tensor> = {};
  for (const input of session.inputMetadata) {
    if (!input.isTensor) continue;
    const dims = input.shape.map((size) => (typeof size === 'number' ? size : (sizes[size] ?? NaN)));
    feeds[input.name] = new Tensor(
      'float32',
      new Float32Array(dims.reduce((product, dim) => product * dim, 1)).fill(0.1),
      dims,
    );
  }
  for (let run = 0; run < 3; run++) await session.run(feeds);
  session.endProfiling();
  await session.release();
  const file = (await readdir(place.folder)).find((name) => name.startsWith('profile'));
  return place.path(file ?? 'profile');
}

/** A fully connected layer and Gelu with open dimensions: batch and sequence. */
function geluModel(): Uint8Array {
  const [input, output] = [
    [2, 3, 8],
    [2, 3, 16],
  ] as const;
  const g = new GraphBuilder();
  const scalar = (value: number): string => g.constant(floatTensor([value], []));
  const dense = g.layer('MatMul', [g.input('float32', input), g.weight([8, 16], 8)], output);
  const x = g.layer('Add', [dense, g.weight([16], 1)], output);
  const erf = g.layer('Erf', [g.layer('Div', [x, scalar(Math.SQRT2)], output)], output);
  const both = g.layer('Mul', [x, g.layer('Add', [erf, scalar(1)], output)], output);
  const { graph, ...model } = g.model([g.layer('Mul', [both, scalar(0.5)], output)]);
  const types = [...graph.types].map(([name, { elementType, dims = [] }]) => {
    return [name, { elementType, dims: ['batch', 'sequence', ...dims.slice(2)] }] as const;
  });
  return encodeModelToBytes({ ...model, graph: { ...graph, types: new Map(types) } });
}

describe('dlbricks import', () => {
  test('imported traces are composed from the store; importing them twice changes nothing', deadline, async (t) => {
    const place = await workplaceHere(t);
    const table = await place.write('table.csv', TABLE);
    for (let time = 0; time < 2; time++) {
      const { stdout, code, stderr } = await place.run(['dlbricks', 'import', table]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^net: 2 layers, 2 times, 1 run of the whole model; system: here$/m);
    }
    const { report, code } = await composed(place, '--from-store');
    assert.equal(code, 0);
    assert.deepEqual(
      report.models.map(({ name, estimate_ms: ms, end_to_end_ms: whole }) => [name, ms, whole]),
      [['net', 3, 3.5]],
    );
    assert.deepEqual(
      report.models[0]?.sequence_list.map(({ occurrences }) => occurrences),
      [1, 1],
    );
  });

  test('systems never mix', deadline, async (t) => {
    const place = await workplaceHere(t);
    const table = await place.write('table.csv', TABLE);
    assert.equal((await place.run(['dlbricks', 'import', table, JAEGER])).code, 0);
    const unclear = await place.run(['dlbricks', 'compose', '--from-store']);
    assert.equal(unclear.code, 2);
    assert.match(unclear.stderr, /--system[^]*here[^]*node-1, AMD EPYC/);
    const { report } = await composed(place, '--from-store', '--system', 'here');
    assert.deepEqual([report.system, report.models.length], ['here', 1]);
    const mixed = await place.run(['dlbricks', 'compose', '--from-traces', table, JAEGER]);
    assert.equal(mixed.code, 2);
    assert.match(mixed.stderr, /give the traces of one of them:\n {2}here\n {2}node-1, AMD EPYC/);
    const contradicted = await place.run(['dlbricks', 'import', table, '--system', 'there']);
    assert.equal(contradicted.code, 2);
    assert.match(contradicted.stderr, /"here".*"there"/);
  });

  test('a trace that names no system needs one', deadline, async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['dlbricks', 'import', join(FIXTURES, 'onnxruntime.json')]);
    assert.equal(ending.code, 2);
    assertOneMessage(ending);
    assert.match(ending.stderr, /name it with --system/);
  });

  test('a damaged trace gives one message with its place, and nothing is kept', deadline, async (t) => {
    const place = await workplaceHere(t);
    const whole = await readFile(JAEGER, 'utf8');
    const ending = await place.run(['dlbricks', 'import', await place.write('cut.json', whole.slice(0, 5000))]);
    assert.equal(ending.code, 2);
    assertOneMessage(ending);
    assert.match(ending.stderr, /cut\.json: byte 5000: the file ends in the middle/);
    assert.equal((await place.run(['dlbricks', 'compose', '--from-store'])).code, 2);
  });
});

describe('dlbricks compose --from-traces', () => {
  test("estimates a model from the runtime's own profile of it", deadline, async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('conv.onnx', convModel());
    const profile = await profileOf(place, model);
    const { report, code } = await composed(place, model, '--from-traces', profile, '--system', 'here');
    assert.equal(code, 0, JSON.stringify(report.models[0]?.sequence_list));
    const [estimate] = report.models;
    assert.equal(estimate?.coverage, 1);
    assert.deepEqual(Object.keys(estimate.found_by), ['shapes']);
    assert(
      estimate.estimate_ms !== null && estimate.parallel_ms !== null && estimate.parallel_ms <= estimate.estimate_ms,
    );
    // One process does not show the spread between processes.
    assert.equal(estimate.estimate_high_ms, null);
  });

  test('covers fully connected layers, whose weights are missing in the profile', deadline, async (t) => {
    const place = await workplaceHere(t);
    const g = new GraphBuilder();
    const hidden = g.layer('Gemm', [g.input('float32', [1, 32]), g.weight([32, 16], 32), g.weight([16], 1)], [1, 16]);
    const last = g.layer('Gemm', [g.layer('Relu', [hidden], [1, 16]), g.weight([16, 4], 16), g.weight([4], 1)], [1, 4]);
    const model = await place.write('dense.onnx', encodeModelToBytes(g.model([last])));
    const imported = await place.run(['dlbricks', 'import', await profileOf(place, model), '--system', 'here']);
    assert.equal(imported.code, 0, imported.stderr);
    const { report, code } = await composed(place, model, '--from-store');
    const [estimate] = report.models;
    assert.equal(code, 0, JSON.stringify(estimate?.sequence_list));
    assert.deepEqual(estimate?.found_by, { partial: 2 });
    assert.equal(estimate.graph, 'optimized');
  });

  test('covers a model that the runtime optimized with open dimensions, and says so', deadline, async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('gelu.onnx', geluModel());
    const profile = await profileOf(place, model, { batch: 2, sequence: 3 });
    const sizes = ['--batch', '2', '--dimension', 'sequence=3', '--from-traces', profile, '--system', 'here'];
    const { report, code } = await composed(place, model, ...sizes);
    const [estimate] = report.models;
    assert.equal(code, 0, JSON.stringify(estimate?.sequence_list));
    assert.equal(estimate?.graph, 'optimized_open');
    const { stdout } = await place.run(['dlbricks', 'compose', model, ...sizes]);
    assert.match(stdout, /looked up as the runtime optimizes them with open dimensions: gelu/);
  });

  test(
    'a partial estimate is marked, names the missing layers, and exits with 3; filling in covers them',
    deadline,
    async (t) => {
      const place = await workplaceHere(t);
      const rows = [8, 16, 32]
        .map((size, i) => `other,here,${i},Tanh,1x${size},1x${size},${0.1 + size / 100}\n`)
        .join('');
      const table = await place.write('table.csv', `${TABLE}net,here,2,Tanh,1x24,1x24,\n${rows}`);
      const part = await place.run(['dlbricks', 'compose', 'trace:net', '--from-traces', table]);
      assert.equal(part.code, 3);
      assert.match(part.stdout, /part: 3\.000/);
      assert.match(part.stdout, /net: missing 1 x Tanh/);
      const { report, code } = await composed(place, 'trace:net', '--from-traces', table, '--fill', 'model');
      assert.equal(code, 0);
      const [{ estimate_ms: ms, filled_ms: filledMs, measured_share: share } = assert.fail()] = report.models;
      assert.equal(ms?.toFixed(9), (3 + filledMs).toFixed(9));
      assert(Math.abs(filledMs / 0.34 - 1) < 0.01, `${filledMs} ms`);
      assert.equal(share.toFixed(3), '0.667');
      const fewer = await place.write(
        'fewer.csv',
        `${TABLE}net,here,2,Tanh,1x24,1x24,\n${rows.slice(rows.indexOf('\n') + 1)}`,
      );
      const unknown = await place.run(['dlbricks', 'compose', 'trace:net', '--from-traces', fewer, '--fill', 'model']);
      assert.equal(unknown.code, 3);
      assert.match(
        unknown.stdout.replaceAll(/\s+/g, ' '),
        /net: missing 1 x Tanh .*; cannot be predicted: 2 kernels like this/,
      );
    },
  );

  test('the overhead of layer tracing is taken out, and a note says so', deadline, async (t) => {
    const place = await workplaceHere(t);
    const { stdout, code } = await place.run(['dlbricks', 'compose', '--from-traces', JAEGER]);
    assert.equal(code, 0);
    // 0.972 ms without and 1.072 ms with layer tracing; layers add up to 0.952 ms.
    assert.match(stdout, /tiny: layer times multiplied by 0\.907/);
    assert.match(stdout, /0\.863/);
  });

  test('a file written with --trace-out is read again, with the same estimate', deadline, async (t) => {
    const place = await workplaceHere(t);
    const first = await composed(place, '--from-traces', JAEGER, '--trace-out', 'estimate.json');
    const { traceEvents } = JSON.parse(await readFile(place.path('estimate.json'), 'utf8')) as {
      readonly traceEvents: readonly Readonly<Record<string, unknown>>[];
    };
    assert(traceEvents.every(({ cat, ts, tid }) => [cat, ts, tid].every((value) => value !== undefined)));
    const second = await composed(place, '--from-traces', 'estimate.json');
    const shown = ({ report }: typeof first) =>
      report.models.map(({ name, layers, estimate_ms: ms, end_to_end_ms: whole }) => ({
        name,
        layers,
        ms: ms?.toFixed(6),
        whole: whole?.toFixed(6),
      }));
    assert.deepEqual(shown(second), shown(first));
    assert.equal(second.report.system, first.report.system);
  });

  test('traces without a model are refused as such', deadline, async (t) => {
    const place = await workplaceHere(t);
    const empty = await place.write('empty.csv', 'model,system,index,op,duration_ms\n');
    const ending = await place.run(['dlbricks', 'compose', '--from-traces', empty]);
    assert.equal(ending.code, 2);
    assertOneMessage(ending);
    assert.match(ending.stderr, /the traces hold no model with layers/);
  });

  test('options for traces only are refused without traces', deadline, async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['dlbricks', 'compose', 'zoo:resnet18', '--fill', 'model']);
    assert.equal(ending.code, 2);
    assert.match(ending.stderr, /--fill is for --from-traces/);
  });
});

describe('--trace-out of measurements', () => {
  test('a run is written as a trace whose bricks are found again by their signatures', deadline, async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('four.onnx', chain(FOUR_LAYERS));
    const run = await place.run([
      'dlbricks',
      'validate',
      model,
      ...LAYER_CUT,
      ...QUICK,
      ...'--trace-out run.json --export-json -'.split(' '),
    ]);
    assert.equal(run.code, 0, run.stderr);
    const [measured] = reportIn(run).models;
    const { report, code } = await composed(place, model, '--cut', 'layer', '--from-traces', 'run.json');
    assert.equal(code, 0);
    const [estimate] = report.models;
    assert.deepEqual(estimate?.found_by, { signature: 4 });
    assert.equal(estimate.estimate_ms?.toFixed(6), measured?.estimate_ms?.toFixed(6));
  });

  test(
    'estimates for several batches are several models, and each is read again with its call',
    deadline,
    async (t) => {
      const place = await workplaceHere(t);
      const model = await place.write('four.onnx', chain(FOUR_LAYERS));
      const measured = async (batch: string, file: string) => {
        const args = ['--batch', batch, ...QUICK, ...ONCE, ...AS_STORED, '--trace-out', file, '--export-csv', '-'];
        const ending = await place.run(['dlbricks', 'run', model, ...args]);
        assert.equal(ending.code, 0, ending.stderr);
        const [header = '', ...rows] = ending.stdout.split('\r\n').filter((line) => line !== '');
        const column = header.split(',').indexOf('estimate_ms');
        return rows.map((row) => Number(row.split(',')[column]).toFixed(6));
      };
      const both = await measured('1,2', 'both.json');
      const [only] = await measured('2', 'two.json');
      assert.deepEqual([both.length, only], [2, both[1]]);
      const estimatesIn = async (...args: readonly string[]) => {
        const { report, code } = await composed(place, ...args);
        assert.equal(code, 0, JSON.stringify(report.models));
        return report.models.map(({ name, estimate_ms: ms }) => [name, ms?.toFixed(6)]);
      };
      assert.deepEqual(await estimatesIn('--from-traces', 'both.json'), [
        ['four, batch 1, 1 thread', both[0]],
        ['four, batch 2, 1 thread', both[1]],
      ]);
      assert.deepEqual(await estimatesIn('--from-traces', 'two.json'), [['four', only]]);
      assert.deepEqual(await estimatesIn(model, '--batch', '2', '--from-traces', 'both.json'), [['four', only]]);
    },
  );

  test(
    'a layer table with only models, indices, operators and times is enough for its own models',
    deadline,
    async (t) => {
      const place = await workplaceHere(t);
      const rows = ['net,0,Relu,1.5', 'net,1,Tanh,0.5', 'net,2,Relu,1.4', 'other,0,Relu,9'];
      const table = await place.write('table.csv', ['model,index,op,duration_ms', ...rows].join('\n'));
      const { report, code } = await composed(place, '--from-traces', table, '--system', 'here');
      assert.equal(code, 0);
      const found = report.models.map(({ name, estimate_ms: ms, found_by: by }) => [name, ms?.toFixed(3), by]);
      assert.deepEqual(found, [
        ['net', '3.400', { position: 3 }],
        ['other', '9.000', { position: 1 }],
      ]);
      // Nothing says that two of these layers are the same, so that no spread is known.
      assert(report.models.every(({ estimate_high_ms: high }) => high === null));
    },
  );
});
