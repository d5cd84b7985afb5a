import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertOfSchema } from '../schemas/validator.js';
import { deadline } from './support/command.js';
import { AS_STORED, chain, FOUR_LAYERS, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

interface Findings {
  readonly findings: readonly { readonly id: string; readonly level: string }[];
}

describe('mlmodelscope doctor', { ...deadline, concurrency: 2 }, () => {
  it('looks at this machine, and its exit code is that of the worst finding', async (t) => {
    const place = await workplaceHere(t);
    const { stdout, code } = await place.run(['doctor', '--threads', '1000', '--json']);
    const document = JSON.parse(stdout) as Findings;
    assertOfSchema('findings', document);
    assert.ok(document.findings.some(({ id }) => id === 'threads'));
    assert.equal(code, 3);
  });

  it('looks at a result', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    await place.run(['latency', 'net.onnx', ...QUICK, ...AS_STORED, '--export-json', 'net.json']);
    const warned = await place.run(['doctor', 'net.json']);
    assert.match(warned.stdout, /│ warn +│ few_runs +│ a latency is of 3 runs/);
    assert.match(warned.stdout, /^few_runs: .+; measure at least 10 times/m);
    assert.equal(warned.code, 3);
    await place.write('old.json', JSON.stringify({ models: [] }));
    const refused = await place.run(['doctor', 'old.json']);
    assert.match(refused.stdout, /no_provenance/);
    assert.equal(refused.code, 4);
  });

  it('looks at a reference log, and at a manifest', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const { stderr } = await place.run(['latency', 'net.onnx', ...QUICK, ...AS_STORED, '--log', 'net.yml']);
    const { stdout } = await place.run(['doctor', 'net.yml']);
    assert.match(stdout, /│ warn +│ few_runs +│ a latency is of 3 runs/, stderr);
    assert.doesNotMatch(stdout, /edited_log|no_provenance/);
    const log = await readFile(join(place.folder, 'net.yml'), 'utf8');
    const edited = log.replace(/lowest_mhz: .*/, 'lowest_mhz: 1000').replace(/highest_mhz: .*/, 'highest_mhz: 2000');
    await place.write('edited.yml', edited);
    const found = await place.run(['doctor', 'edited.yml']);
    assert.match(found.stdout, /│ refuse +│ edited_log +│ edited after it was written: conditions/);
    assert.match(found.stdout, /│ warn +│ frequency +│ the processor ran at 1000 to 2000 MHz/);
    assert.equal(found.code, 4);
    await place.write('zoo.yml', log.replace(/files_sha256: .*/, 'files_sha256: null'));
    const withoutFile = await place.run(['doctor', 'zoo.yml']);
    assert.match(withoutFile.stdout, /edited_log/);
    assert.doesNotMatch(withoutFile.stdout, /no_checksum/);
    await place.write('wrong.yml', 'dlspec: evaluation/v1\nname: x\n');
    const wrong = await place.run(['doctor', 'wrong.yml']);
    assert.deepEqual([wrong.stdout, wrong.code], ['', 2]);
    assert.match(wrong.stderr, /wrong\.yml:1:1: models: expected a list/);
    await place.write('loud.mjs', "throw new Error('loaded')");
    const loud = ['--plugin', place.path('loud.mjs')];
    assert.match((await place.run(['doctor', 'wrong.yml', ...loud])).stderr, /loaded/);
    await place.write('result.json', '{"models":[]}');
    assert.doesNotMatch((await place.run(['doctor', 'result.json', ...loud])).stderr, /loaded/);
  });

  it('refuses what is no result', async (t) => {
    const place = await workplaceHere(t);
    await place.write('list.json', '[1]');
    await place.write('text.json', 'hello');
    await place.write('binary.json', chain(FOUR_LAYERS));
    for (const [file, found] of [
      ['list.json', 'another JSON document'],
      ['text.json', 'no JSON'],
      ['binary.json', 'a file that is no UTF-8 text;'],
      ['gone.json', 'no such file'],
    ] as const) {
      const { stderr, code } = await place.run(['doctor', file]);
      assert.match(stderr, new RegExp(`^${file}: expected a document of results, found ${found}.*--export-json`));
      assert.equal(code, 2);
    }
  });

  it('refuses a model without a manifest, and threads of a result', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    for (const [args, message] of [
      [['net.onnx'], /^net\.onnx: doctor has no checks for a model without a manifest; .*at its manifest$/m],
      [['zoo:resnet18'], /^zoo:resnet18: doctor has no checks for a model without a manifest/],
      [['list.json', '--threads', '3'], /^--threads is about this machine; leave it out/],
    ] as const) {
      const { stderr, code } = await place.run(['doctor', ...args]);
      assert.match(stderr, message);
      assert.equal(code, 2);
    }
  });

  it('keeps `dlbricks run --strict` from measuring on a machine with warnings', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = ['dlbricks', 'run', 'net.onnx', '--threads', '1000', '--strict'];
    const { stdout, stderr, code } = await place.run(args);
    assert.match(stderr, /^--strict: .+nothing was measured:\n/);
    assert.match(stderr, /^ {2}threads: 1000 threads share/m);
    assert.deepEqual([stdout, code], ['', 1]);
    const elsewhere = await place.run([...args, '--agent', '127.0.0.1:1']);
    assert.match(elsewhere.stderr, /--strict looks at this machine/);
    assert.equal(elsewhere.code, 2);
  });
});
