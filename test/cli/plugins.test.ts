import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deadline, type Workplace } from './support/command.js';
import { chain, FOUR_LAYERS } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const ROOT = join(import.meta.dirname, '../../..');

/** A plugin in plain JavaScript, with a command that greets. */
function greeter(name: string): string {
  return `export default {
  name: '${name}',
  version: '1.2.3',
  registerCommand(program, host) {
    program.command('${name}').action(() => host.print('hello from ${name}\\n'));
  },
};
`;
}

/** Writes a plugin as a package would be: a folder with an index.js that is a module. */
async function writePlugin(place: Workplace, folder: string, source: string): Promise<string> {
  await mkdir(place.path(folder), { recursive: true });
  await place.write(`${folder}/package.json`, '{ "type": "module", "exports": "./index.js" }');
  await place.write(`${folder}/index.js`, source);
  return place.path(folder);
}

describe('a plugin', deadline, () => {
  it('is loaded from a folder or a file that is named', async (t) => {
    const place = await workplaceHere(t);
    const folder = await writePlugin(place, 'one', greeter('one'));
    await place.write('two.mjs', greeter('two'));
    const named = ['--plugin', folder, '--plugin=two.mjs'];
    for (const name of ['one', 'two']) {
      const { stdout, stderr, code } = await place.run([...named, name]);
      assert.deepEqual([stdout, stderr, code], [`hello from ${name}\n`, '', 0]);
    }
    assert.match((await place.run([...named, 'version'])).stdout, /^one 1\.2\.3\ntwo 1\.2\.3$/m);
  });

  it('is loaded once where it is named twice', async (t) => {
    const place = await workplaceHere(t);
    const folder = await writePlugin(place, 'one', greeter('one'));
    const { stdout, stderr } = await place.run(['--plugin', folder, '--plugin', 'one', 'one']);
    assert.deepEqual([stdout, stderr], ['hello from one\n', '']);
  });

  it("is loaded from the user's folder", async (t) => {
    const place = await workplaceHere(t);
    await writePlugin(place, 'config/plugins/mine', greeter('mine'));
    await place.write('config/config.yml', 'threads: 1\n');
    const env = { MLMODELSCOPE_CONFIG: place.path('config/config.yml') };
    assert.equal((await place.run(['mine'], { env })).stdout, 'hello from mine\n');
  });

  it("that is named wins over one of the user's folder", async (t) => {
    const place = await workplaceHere(t);
    await writePlugin(place, 'config/plugins/mine', greeter('mine').replace('hello', 'goodbye'));
    await place.write('config/config.yml', 'threads: 1\n');
    const folder = await writePlugin(place, 'other', greeter('mine'));
    const env = { MLMODELSCOPE_CONFIG: place.path('config/config.yml') };
    const { stdout, stderr } = await place.run(['--plugin', folder, 'mine'], { env });
    assert.equal(stdout, 'hello from mine\n');
    assert.match(
      stderr,
      /^warning: the plugin at .*config\/plugins\/mine does not load: there is another plugin .*other,/,
    );
  });

  it('is loaded from a package that is installed beside the platform', async (t) => {
    const place = await workplaceHere(t);
    const installed = place.path('node_modules', 'dlbricks');
    for (const part of ['lib', 'package.json', 'manifests']) {
      await cp(join(ROOT, part), join(installed, part), { recursive: true });
    }
    for (const name of await readdir(join(ROOT, 'node_modules'))) {
      await symlink(join(ROOT, 'node_modules', name), place.path('node_modules', name));
    }
    const folder = 'node_modules/mlmodelscope-plugin-greeter';
    await writePlugin(place, folder, greeter('greeter'));
    const main = join(installed, 'lib/src/bin/main.js');
    const { stdout, stderr } = await place.startProgram(process.execPath, [main, 'greeter']).ended;
    assert.deepEqual([stdout, stderr], ['hello from greeter\n', '']);
  });

  const evaluating = (settings: string): string => `import { z } from 'dlbricks/plugin-api';
export default { name: 'bad', version: '1', evaluation: { name: 'bad', version: '1', settings: ${settings} } };`;

  const failures: readonly [string, string, RegExp][] = [
    ['throws', "throw new Error('no licence');", /Error: no licence\n +at file:.*bad\/index\.js:1:\d+/],
    ['is no plugin', 'export const nothing = 1;', /its default export is no plugin/],
    [
      'has the name of another one',
      greeter('dlbricks'),
      /another plugin called dlbricks, version [\d.]+ at .*plugins\/dlbricks, which is used; /,
    ],
    [
      'is no JavaScript',
      '\nthis is no JavaScript',
      /bad\/index\.js:2\nthis is .*\n.*\nSyntaxError: Unexpected identifier/,
    ],
    ['has a wrong name', "export default { name: 'Bad Name', version: '1' };", /name: expected .*, found "Bad Name"/],
    ['has no version', "export default { name: 'bad' };", /version: expected a text, found nothing/],
    [
      'does nothing',
      "export default { name: 'bad', version: '1', analyses: [] };",
      /no evaluation, no analyses and no/,
    ],
    ['has settings without a schema', evaluating('5'), /its evaluation has settings without a schema/],
    ['cannot run its evaluation', evaluating('z.object({})'), /its evaluation has no function run/],
    [
      'has settings that no manifest can hold',
      evaluating('z.object({ at: z.date() }), async *run() {}'),
      /settings of its evaluation have no JSON Schema \(Date cannot be .*\); use only types that JSON has/,
    ],
  ];
  for (const [what, source, cause] of failures) {
    it(`that ${what} gives a warning, and everything else works`, async (t) => {
      const place = await workplaceHere(t);
      const folder = await writePlugin(place, 'bad', source);
      const { stdout, stderr, code } = await place.run(['--plugin', folder, 'version']);
      assert.equal(code, 0);
      assert.match(stdout, /^dlbricks /m);
      assert.match(stderr, /^warning: the plugin at .*bad does not load: /);
      assert.match(stderr, cause);
    });
  }

  it('that imports a file which is no JavaScript gives a warning with the line of that file', async (t) => {
    const place = await workplaceHere(t);
    const folder = await writePlugin(place, 'bad', "import 'dlbricks/plugin-api'; import './helper.js';");
    await writeFile(join(folder, 'helper.js'), '\nthis is no JavaScript');
    const { stderr } = await place.run(['--plugin', folder, 'version']);
    assert.match(stderr, /does not load: .*bad\/helper\.js:2\nthis is .*\n.*\nSyntaxError: Unexpected identifier/);
  });

  it('that fails in a command names its own file, and the line of its code', async (t) => {
    const place = await workplaceHere(t);
    const source = "export default { name: 'bad', version: '1', registerCommand(program) {\n  null.x;\n} };";
    const folder = await writePlugin(place, 'bad', source);
    const { stderr, code } = await place.run(['--plugin', folder, 'bad']);
    assert.equal(code, 1);
    assert.match(stderr, /^the plugin at .*bad\/index\.js failed; report this to its author:\nTypeError: /);
    assert.match(stderr, /at Object\.registerCommand \(file:.*bad\/index\.js:2:\d+\)/);
    assert.doesNotMatch(stderr, /defect of mlmodelscope/);
  });

  it('that ends the process, or whose result JSON cannot hold, has failed', async (t) => {
    const place = await workplaceHere(t);
    const folder = await writePlugin(
      place,
      'bad',
      `import { z } from 'dlbricks/plugin-api';
const settings = z.strictObject({});
const ending = { settings, name: 'any', description: 'ends', run: () => process.exit(0) };
const columns = [{ key: 'v', title: 'v', align: 'right' }];
const table = { columns, rows: [{ v: NaN }], notes: [] };
export default {
  name: 'bad', version: '1', analyses: [ending, { ...ending, name: 'nan', run: async () => table }],
  evaluation: { name: 'bad', version: '1', settings, async *run({ evaluation }) {
    if (evaluation.manifest.name === 'ends') process.exit(0);
    yield { kind: 'done', result: { rows: [{ a: 1 }, { b: -Infinity }] }, partial: false };
  } },
};
`,
    );
    await place.write('net.onnx', chain(FOUR_LAYERS));
    for (const name of ['ends', 'infinite']) {
      const manifest = { dlspec: 'evaluation/v1', name, version: '1.0.0', plugin: 'bad', models: ['net.onnx'] };
      await place.write(`${name}.yml`, JSON.stringify(manifest));
    }
    const ended = /^the plugin at .*bad\/index\.js failed; .*\nError: the process ended before the command\n/m;
    for (const [args, message] of [
      [['evaluate', 'ends.yml'], ended],
      [['analyze', 'bad', 'any'], ended],
      [['evaluate', 'infinite.yml'], /invalid event: result\.rows\.1\.b: JSON has no -Infinity; report it/],
      [['analyze', 'bad', 'nan'], /rows\.0\.v: expected a text, a number or null, found NaN/],
    ] as const) {
      const { stderr, code } = await place.run(['--plugin', folder, ...args]);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, message);
    }
  });

  it('that fails in an evaluation or an analysis shows the line of its code', async (t) => {
    const place = await workplaceHere(t);
    const folder = await writePlugin(
      place,
      'bad',
      `import { z } from 'dlbricks/plugin-api';
const settings = z.strictObject({});
export default {
  name: 'bad', version: '1',
  evaluation: { name: 'bad', version: '1', settings, async *run() { fails(); } },
  analyses: [{ name: 'any', description: 'fails', settings, run: fails }],
};
function fails() { null.x; }
`,
    );
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const manifest = { dlspec: 'evaluation/v1', name: 'e', version: '1.0.0', plugin: 'bad', models: ['net.onnx'] };
    await place.write('e.yml', JSON.stringify(manifest));
    for (const args of [
      ['evaluate', 'e.yml'],
      ['analyze', 'bad', 'any'],
    ]) {
      const { stderr, code } = await place.run(['--plugin', folder, ...args]);
      assert.equal(code, 1);
      assert.match(stderr, /TypeError: .*\n +at (Object\.)?fails .*\(file:.*bad\/index\.js:8:\d+\)/);
    }
  });

  it('that is missing gives a warning as well', async (t) => {
    const { stderr, code } = await (await workplaceHere(t)).run(['--plugin', 'nowhere', 'version']);
    assert.equal(code, 0);
    assert.match(stderr, /^warning: the plugin at nowhere does not load: .* found no such file$/m);
  });

  it(
    'that is no file, or a folder without a file, gives a warning at once',
    { skip: process.platform === 'win32' },
    async (t) => {
      const place = await workplaceHere(t);
      execFileSync('mkfifo', [place.path('pipe')]);
      await mkdir(place.path('config/plugins/mine'), { recursive: true });
      execFileSync('mkfifo', [place.path('config/plugins/mine/index.js')]);
      await place.write('huge.js', '');
      await truncate(place.path('huge.js'), 2 ** 40);
      const env = { MLMODELSCOPE_CONFIG: place.path('config/config.yml') };
      await place.write('config/config.yml', 'threads: 1\n');
      const named = ['/dev/zero', 'pipe', '.', 'huge.js'].map((path) => `--plugin=${path}`);
      const { stdout, stderr, code } = await place.run([...named, 'version'], { env });
      assert.equal(code, 0);
      assert.match(stdout, /^dlbricks /m);
      assert.deepEqual(stderr.match(/(found .*|a plugin's file has at most .*)$/gm), [
        ...Array<string>(3).fill('found a device or pipe'),
        'found no such file',
        "a plugin's file has at most 67108864",
      ]);
    },
  );
});
