import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { analysisDocumentSchema } from '../../src/evaluation/analysis.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { keepWholeModel } from '../../src/platform-documents/keep-whole-model.js';
import { sampleMeasurement, signatureOf } from '../store/sample-measurement.js';
import { deadline } from './support/command.js';
import { workplaceHere } from './support/workplace-here.js';

it('analyze lists all analyses', deadline, async (t) => {
  const { stdout, code } = await (await workplaceHere(t)).run(['analyze']);
  assert.equal(code, 0);
  assert.match(stdout, /dlbricks\s.*spread\s.*occasions/);
  assert.match(stdout, /latency\s.*runs\s.*percentiles/);
});

it('analyze suggests a name for an unknown one, and says which setting is wrong', deadline, async (t) => {
  const place = await workplaceHere(t);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['latancy', 'runs'], /did you mean latency\?/],
    [['latency', 'run'], /did you mean runs\?/],
    [['latency', 'runs', '--setting', 'percentile=[5]'], /did you mean percentiles\?/],
    [['latency', 'runs', '--setting', 'percentiles=fast'], /percentiles: expected a list, found a text/],
    [['latency', 'runs', '--setting', 'percentiles'], /expected KEY=VALUE/],
  ];
  for (const [args, problem] of cases) {
    const { stderr, code } = await place.run(['analyze', ...args], { env: { MLMODELSCOPE_STORE: 'memory:' } });
    assert.match(stderr, problem);
    assert.equal(code, 2);
  }
});

it('analyze prints a table, and exports the same', deadline, async (t) => {
  const place = await workplaceHere(t);
  const store = await openEmbeddedStore(place.store, {});
  const measurement = sampleMeasurement(1);
  await store.putMeasurement(measurement);
  await keepWholeModel(store, { name: '=a|b, "c"', batchSize: 1, host: 'bench-1', measurement });
  await store.close();
  const json = place.path('t.json');
  const csv = place.path('t.csv');
  const markdown = place.path('t.md');
  const exports = ['--export-json', json, '--export-csv', csv, '--export-markdown', markdown];
  const { stdout, stderr, code } = await place.run([
    ...'analyze latency runs --setting percentiles=[50]'.split(' '),
    ...exports,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /p50 \(ms\)/);
  const { rows } = analysisDocumentSchema.parse(JSON.parse(await readFile(json, 'utf8')));
  assert.deepEqual([rows[0]?.['model'], rows[0]?.['p50_ms']], ['=a|b, "c"', 2.25]);
  const [header, row] = (await readFile(csv, 'utf8')).split('\r\n');
  assert.equal(header, 'model,signature,dimensions,settings,p50_ms,runs,batch,threads,processor,framework');
  const where = 'Test CPU @ 3.00GHz,onnxruntime 1.30.0';
  assert.equal(row, `"'=a|b, ""c""",${signatureOf(1).slice(0, 8)},,,2.25,2,1,1,${where}`);
  assert.match(await readFile(markdown, 'utf8'), /^\| =a\\\|b, "c" \|.*\| 2\.25 \|/m);
  const piped = await place.run(['analyze', 'latency', 'runs', '--setting', 'percentiles=[50]', '--export-csv', '-']);
  assert.equal(piped.stdout, await readFile(csv, 'utf8'));
  assert.match(piped.stderr, /p50 \(ms\)/);
});

it('analyze and store export make missing folders, and refuse a place before they begin', deadline, async (t) => {
  const place = await workplaceHere(t);
  await (await openEmbeddedStore(place.store, {})).close();
  const deep = (name: string): string => place.path(join('new', 'folder', name));
  const commands = [
    ['analyze', 'latency', 'runs', '--export-json'],
    ['store', 'export'],
  ] as const;
  for (const [index, command] of commands.entries()) {
    const ending = await place.run([...command, deep(`${index}`)]);
    assert.equal(ending.code, 0, ending.stderr);
    await access(deep(`${index}`));
    // A file in place of a folder. The store does not exist either, which would come later.
    const refused = await place.run([...command, join(deep(`${index}`), 'file'), '--store', place.path('no-store')]);
    assert.match(refused.stderr, /file cannot be written: .*name another file/);
    assert.equal(refused.stdout, '');
  }
});
