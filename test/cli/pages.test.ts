import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadline } from './support/command.js';
import { chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const ON = 'on .*, 1 of \\d+ cores?, onnxruntime [\\d.]+';

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
