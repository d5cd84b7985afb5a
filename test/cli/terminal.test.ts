import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { printable } from '../../src/cli/terminal.js';
import { deadline, workplace, type Workplace } from './support/command.js';
import { needsTerminal, onTerminal } from './support/pseudo-terminal.js';
import { screenOf } from './support/screen.js';
import { workplaceHere } from './support/workplace-here.js';
import { chain, FOUR_LAYERS, LAYER_CUT, MANY_OPERATORS, QUICK } from './support/tiny-models.js';

const ESCAPE = '\u001b';

/** Enough runs that a bar is visible before it is removed. */
const VISIBLE = ['--runs', '100', '--warmup', '1'] as const;

/** Arguments that validate a chain of these layers, and a model with a layer that no runtime has. */
async function validate(
  place: Workplace,
  operators: readonly string[],
  ...options: readonly string[]
): Promise<readonly string[]> {
  await place.write('chain.onnx', chain(operators));
  await place.write('broken.onnx', chain(['Relu', 'no.runtime:Mystery']));
  return ['dlbricks', 'validate', 'chain.onnx', 'broken.onnx', ...LAYER_CUT, ...options];
}

test('foreign texts neither control a terminal nor change the direction of its lines', () => {
  const foreign = 'a\u001b[2Jb\u009b31mc\rd\u202ee\u2066f\u2028g\th\ni \u00e9\u{1f41f}';
  assert.equal(printable(foreign), 'a\ufffd[2Jb\ufffd31mc\ufffdd\ufffde\ufffdf\ufffdg\th\ni \u00e9\u{1f41f}');
});

describe('output that goes to no terminal', { ...deadline, concurrency: 2 }, () => {
  it('has no escape codes and no bars', async (t) => {
    const place = await workplace(t);
    const { stdout, stderr } = await place.run(await validate(place, FOUR_LAYERS, ...QUICK));
    assert(!`${stdout}${stderr}`.includes(ESCAPE));
    assert.doesNotMatch(stderr, /\r|\[=*-*\]/);
  });

  it('has none either where a build server’s variables make libraries print colours', async (t) => {
    const place = await workplace(t);
    const env = { CI: 'true', FORCE_COLOR: '1' };
    const { stdout, stderr } = await place.run(await validate(place, FOUR_LAYERS, ...QUICK), { env });
    assert(!`${stdout}${stderr}`.includes(ESCAPE));
  });
});

describe('on a terminal', { ...deadline, skip: needsTerminal, concurrency: 2 }, () => {
  for (const columns of [80, 120]) {
    it(`of ${columns} columns a bar shows the progress, and is removed at the end`, async (t) => {
      const place = await workplace(t);
      const terminal = onTerminal(t, place, await validate(place, MANY_OPERATORS, ...VISIBLE), columns);
      await terminal.ended;
      const output = terminal.output();
      assert.match(output, /measuring +\d+ % \[=+-+\] +\d+\/25 {2}\d+ (?:s|min) left {2}chain: [A-Z]/);
      const { lines, cursorShown } = screenOf(output, columns);
      assert.match(lines[0] ?? '', /^22 layers.*; 21 different ones \(bricks\); 25 measurements/);
      assert.match(
        lines.find((line) => line.startsWith('warning: ')) ?? '',
        /^warning: broken: Mystery: unsupported: /,
      );
      assert.deepEqual(
        lines.filter((line) => line.includes('measuring')),
        [],
      );
      const rows = lines.filter((line) => /^[┌│├└]/.test(line));
      assert.equal(rows.filter((row) => /^│ (chain|broken) .*│$/.test(row)).length, 2);
      for (const row of rows) assert.match(row, /[┐│┤┘]$/, 'a row is broken');
      assert.equal(cursorShown, true);
    });
  }

  it('of 60 columns doctor breaks its lines between words', async (t) => {
    const terminal = onTerminal(t, await workplace(t), ['doctor', '--threads', '1000'], 60);
    await terminal.ended;
    const lines = screenOf(terminal.output(), 1000).lines.filter((line) => line.length > 60);
    assert.match(terminal.output(), /threads: /);
    assert.deepEqual(lines, []);
  });

  for (const [what, env, bold, isBold] of [
    ['colours the table', {}, '[1mmodel', true],
    ['does not colour it where NO_COLOR is set', { NO_COLOR: '1' }, '[1m', false],
  ] as const) {
    it(what, async (t) => {
      const place = await workplace(t);
      await place.write('chain.onnx', chain(FOUR_LAYERS));
      const terminal = onTerminal(t, place, ['latency', 'chain.onnx', ...QUICK], 120, env);
      await terminal.ended;
      assert.match(terminal.output(), /│ chain +│/);
      assert.equal(terminal.output().includes(`${ESCAPE}${bold}`), isBold);
    });
  }

  it('leaves out and wraps nothing where the terminal does not know its size', async (t) => {
    const place = await workplace(t);
    await place.write('chain.onnx', chain(['Relu']));
    const terminal = onTerminal(t, place, ['dlbricks', 'layers', 'chain.onnx'], 0);
    await terminal.ended;
    const { lines } = screenOf(terminal.output(), 500);
    const whole = lines.filter((line) => /^│ layer .* shape |^chain: .* for each byte$/.test(line));
    assert.equal(whole.length, 2);
  });

  it('draws no bars when asked to be quiet', async (t) => {
    const place = await workplace(t);
    const terminal = onTerminal(t, place, await validate(place, FOUR_LAYERS, ...QUICK, '--quiet'), 80);
    await terminal.ended;
    assert(!terminal.output().includes(ESCAPE));
  });

  for (const [name, keys] of [
    ['once', '\u0003'],
    ['twice', '\u0003\u0003'],
  ] as const) {
    it(`leaves the cursor as it was when it is interrupted ${name}`, async (t) => {
      const place = await workplace(t);
      const terminal = onTerminal(t, place, await validate(place, MANY_OPERATORS, '--runs', '5000'), 80);
      await terminal.shows(/measuring/);
      terminal.type(keys);
      await terminal.ended;
      const { cursorShown, lines } = screenOf(terminal.output(), 80);
      assert.equal(cursorShown, true);
      assert.equal(
        lines.some((line) => line.includes('measuring')),
        false,
      );
    });
  }

  it('shows names from files without executing their control sequences', async (t) => {
    const place = await workplace(t);
    await place.write(`evil${ESCAPE}]0;title\u0007.onnx`, chain(['Relu']));
    const terminal = onTerminal(t, place, ['dlbricks', 'compose', `evil${ESCAPE}]0;title\u0007.onnx`], 120);
    await terminal.ended;
    assert(!terminal.output().includes(`${ESCAPE}]`));
  });
});

describe('80 columns', deadline, () => {
  it('are wide enough for every table, also where a model has a long name', async (t) => {
    const place = await workplaceHere(t, { columns: 80 });
    const model = `a-model-with-a-rather-long-name-${'of-a-network-'.repeat(4)}.onnx`;
    await place.write(model, chain(['Relu', 'Tanh']));
    await place.run(['dlbricks', 'validate', model, ...LAYER_CUT, ...QUICK]);
    const tables = [
      ['dlbricks', 'compose', model, ...LAYER_CUT, ...QUICK, '--wide'],
      ['dlbricks', 'share', model, ...LAYER_CUT, ...QUICK],
      ['latency', model, ...QUICK, '--wide', '--batch', '1,2'],
      ['trace', 'model', model, '--runs', '3'],
      ['trace', 'list'],
      ['store', 'info'],
      ['store', 'list'],
      ['registry', 'models'],
      ['registry', 'agents'],
      ['analyze'],
      ['analyze', 'latency', 'runs'],
    ];
    for (const args of tables) {
      const { stdout, stderr } = await place.run(args);
      const rows = stdout.split('\n').filter((line) => /^[┌│├└]/.test(line));
      assert.ok(rows.length > 3, `no table: ${args.join(' ')}: ${stderr}`);
      for (const row of rows) {
        assert.ok(row.length <= 80, `${args.join(' ')}: ${row}`);
        assert.match(row, /[┐│┤┘]$/, args.join(' '));
      }
    }
  });
});
