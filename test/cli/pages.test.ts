import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deadline } from './support/command.js';
import { chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const ON = 'on .*, 1 of \\d+ cores?, onnxruntime [\\d.]+';

describe('mlmodelscope report', { ...deadline }, () => {
  it('shows several results as one page on one scale', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const run = (out: string, ...more: string[]) =>
      place.run(['dlbricks', 'run', 'four.onnx', ...LAYER_CUT, ...QUICK, ...more, '--export-json', out]);
    await run('a.json');
    await run('b.json', '--batch', '2');
    await place.run(['latency', 'four.onnx', ...QUICK, '--export-json', 'c.json']);
    const { code, stderr } = await place.run(['report', 'a.json', 'b.json', 'c.json', '-o', 'page.html']);
    assert.equal(code, 0, stderr);
    const page = await readFile(join(place.folder, 'page.html'), 'utf8');
    assert.match(page, /<h1>2 results<\/h1>/);
    assert.match(page, /four, batch 1, 1 thread.*four, batch 2, 1 thread/s);
    assert.equal([...page.matchAll(/class="ranges"/g)].length, 2, 'one scale for both reports, one for the runs');
    const again = await place.run(['report', 'a.json', 'a.json', '-o', '-']);
    assert.equal(again.code, 0, again.stderr);
  });

  it('shows what compare and layers exported as these commands show it', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const exporting = (name: string) => ['--export-json', `${name}.json`, '--export-html', `${name}.html`];
    await place.run(['dlbricks', 'layers', 'four.onnx', ...exporting('layers')]);
    await place.run(['dlbricks', 'run', 'four.onnx', ...LAYER_CUT, ...QUICK, '--export-json', 'run.json']);
    await place.run(['compare', 'run.json', 'run.json', ...exporting('compare')]);
    for (const name of ['layers', 'compare']) {
      const { stdout, stderr } = await place.run(['report', `${name}.json`, '-o', '-']);
      assert.equal(stdout, await readFile(join(place.folder, `${name}.html`), 'utf8'), stderr);
    }
  });

  it('names a file that no plugin understands, and one that is not there', async (t) => {
    const place = await workplaceHere(t);
    await place.write('other.json', Buffer.from('{"provenance": null}'));
    const other = await place.run(['report', 'other.json', '-o', 'page.html']);
    assert.equal(other.code, 2);
    assert.match(other.stderr, /other\.json: no plugin here understands this document; give what/);
    const none = await place.run(['report', 'none.json', '-o', 'page.html']);
    assert.match(none.stderr, /none\.json: expected a document of results, found no such file/);
  });
});

describe('--export-html', { ...deadline }, () => {
  it('of each command says what was measured on what, and shows its table', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    await place.write('two.onnx', chain(FOUR_LAYERS.slice(0, 2)));
    const models = ['four.onnx', 'two.onnx', ...LAYER_CUT, ...QUICK];
    const commands: readonly (readonly [command: readonly string[], title: string, cell: string])[] = [
      [['dlbricks', 'run', ...models, '--export-json', 'a.json'], `Latency of four, two ${ON}`, 'four'],
      [['dlbricks', 'validate', ...models], `Latency of four, two ${ON}`, 'two'],
      [['dlbricks', 'compose', ...models], `Latency of four, two ${ON}`, 'four'],
      [['dlbricks', 'share', ...models], 'What 2 models share, batch 1: four, two', 'two'],
      [['compare', 'a.json', 'a.json'], 'a\\.json compared with a\\.json', 'four'],
      [
        ['dlbricks', 'sweep', 'four.onnx', 'two.onnx', '--cut', 'layer', ...QUICK],
        `1 way to cut 2 models ${ON}, batch 1`,
        'layer',
      ],
      [['latency', 'four.onnx', 'two.onnx', ...QUICK], 'Latency of four, two on .*', 'two'],
      [['trace', 'model', 'four.onnx', '--runs', '3'], `Kernels of four ${ON}`, 'Relu'],
      [['trace', 'show', 'latest'], 'Trace of .*', 'evaluation_trace four'],
      [['analyze', 'latency', 'runs', '--setting', 'percentiles=[50]'], '.+', 'four'],
    ];
    for (const [command, title, cell] of commands) {
      const { stdout, stderr, code } = await place.run([...command, '--export-html', '-']);
      assert.equal(code, 0, `${command.join(' ')}: ${stderr}`);
      assert.match(stdout, new RegExp(`<h1>${title}</h1>\n<p class="verdict">[^<]+[.]</p>`), command.join(' '));
      assert.match(stdout, new RegExp(`<th scope="row"[^>]*>${cell}</th>`), command.join(' '));
      assert.doesNotMatch(stdout.split('<script>')[0] ?? '', /undefined|NaN|\[object/, command.join(' '));
    }
  });
});
