import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeModelToBytes } from '../../src/onnx/write/write-model.js';
import type { AnalysisTable } from '../../src/evaluation/analysis.js';
import { GraphBuilder } from '../plugins/dlbricks/support/graph-builder.js';
import { deadline } from './support/command.js';
import { workplaceHere } from './support/workplace-here.js';

const SIDE = 64;
const LENGTH = 4;
const BYTES = SIDE * SIDE * 4;

/** Products of squares, none of which can be written over its input. */
function products(): Uint8Array {
  const graph = new GraphBuilder();
  let value = graph.input('float32', [SIDE, SIDE]);
  for (let at = 0; at < LENGTH; at++)
    value = graph.layer('MatMul', [value, graph.weight([SIDE, SIDE], SIDE)], [SIDE, SIDE]);
  return encodeModelToBytes(graph.model([value]));
}

describe('memory of a trace', deadline, () => {
  it('of a chain with known sizes is exact: its packed weights, and two values at a time', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', products());
    const traced = await place.run(['trace', 'model', 'net.onnx', '--threads', '1', '--runs', '3', '--quiet']);
    assert.equal(traced.code, 0, traced.stderr);
    const { stdout } = await place.run(['analyze', 'xsp', 'layer-memory', 'net', '--export-json', '-']);
    const { rows } = JSON.parse(stdout) as AnalysisTable;
    const inUse = rows.map((row) => Number(row['requested_bytes_in_use']));
    assert.equal(Math.max(...inUse), (LENGTH + 2) * BYTES);
    assert.equal(rows[0]?.['output_mb'], BYTES / 2 ** 20);
    const layers = await place.run(['analyze', 'xsp', 'layer-kernels', 'net', '--export-json', '-']);
    const ofAuthor = (JSON.parse(layers.stdout) as AnalysisTable).rows;
    assert.deepEqual(
      ofAuthor.map((row) => [row['layer_index'], row['layer_type']]),
      inUse.map((_, index) => [index, 'MatMul']),
    );
  });

  it('the trace of the store and the imported spans of it give the same tables', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', products());
    const spans = { env: { OTEL_TRACES_EXPORTER: 'none' } };
    // A process has spans from its start on, or never.
    await place.start(['trace', 'model', 'net.onnx', '--threads', '2', '--runs', '3', '--quiet'], spans).ended;
    const { stdout: exported, code } = await place.run(['trace', 'export', 'latest', '--format', 'otlp']);
    assert.equal(code, 0);
    await place.write('spans.json', exported);
    const imported = await place.run(['dlbricks', 'import', 'spans.json', '--store', 'other']);
    assert.equal(imported.code, 0, imported.stderr);
    for (const name of ['model', 'layers', 'kernels', 'gaps']) {
      const rowsIn = async (...store: readonly string[]): Promise<unknown> => {
        const asked = ['analyze', 'xsp', name, '--setting', 'batch=1', '--export-json', '-', ...store];
        const { stdout, stderr } = await place.run(asked);
        return (JSON.parse(stdout === '' ? JSON.stringify({ rows: stderr }) : stdout) as AnalysisTable).rows;
      };
      assert.deepEqual(await rowsIn('--store', 'other'), await rowsIn(), name);
    }
  });

  it('levels without spans are refused by name', async (t) => {
    const place = await workplaceHere(t);
    for (const args of [
      ['trace', 'model', 'zoo:alexnet', '--level', 'HARDWARE_TRACE'],
      ['zoo', 'alexnet', '--trace-level', 'FULL_TRACE'],
    ]) {
      const { code, stderr } = await place.run(args);
      assert.equal(code, 2);
      assert.match(stderr, /(HARDWARE|FULL)_TRACE has no spans: no process reads the counters of the hardware/);
    }
  });
});
