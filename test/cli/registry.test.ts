import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ZOO } from '../../src/zoo/zoo.js';
import { deadline } from './support/command.js';
import { workplaceHere } from './support/workplace-here.js';

describe('registry models', { ...deadline, concurrency: 2 }, () => {
  it('lists every model of the zoo in a table', async (t) => {
    const place = await workplaceHere(t, { columns: 250 });
    const { stdout, stderr, code } = await place.run(['registry', 'models']);
    assert.deepEqual({ stderr, code }, { stderr: '', code: 0 });
    for (const { name, title } of ZOO) {
      const row = stdout.split('\n').find((line) => line.includes(`│ zoo:${name} `));
      assert(row?.includes(title) === true, `${name}: ${row}`);
    }
  });

  it('has a line for each model in a pipe, and fits a terminal', async (t) => {
    const piped = await (await workplaceHere(t)).run(['registry', 'models']);
    const lines = piped.stdout.trimEnd().split('\n');
    assert.deepEqual(lines.map((line) => line.split('\t')[0]).sort(), ZOO.map(({ name }) => `zoo:${name}`).sort());
    assert.deepEqual(new Set(lines.map((line) => line.split('\t').length)), new Set([7]));
    const narrow = await (await workplaceHere(t, { columns: 80 })).run(['registry', 'models']);
    assert.ok(narrow.stdout.split('\n').every((line) => line.length <= 80));
    assert.match(narrow.stdout, /This terminal is too narrow for: name, .*--json\s+shows\s+all/s);
  });

  it('filters by name, task and framework, and says which tasks there are', async (t) => {
    const place = await workplaceHere(t);
    const found = async (...args: readonly string[]) => {
      const { stdout, stderr, code } = await place.run(['registry', 'models', '--json', ...args]);
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout) as readonly { readonly name: string; readonly task: string | null }[];
    };
    const named = await found('--name', 'ResNet', '--task', 'classification');
    assert.ok(named.some(({ name }) => name === 'resnet18'));
    assert.ok(named.every(({ task }) => task === 'image_classification'));
    const squeezenets = (await found('--name', 'squeezenet1.1')).map(({ name }) => name);
    assert.deepEqual(squeezenets, ['icpe2020_16_squeezenet1.1', 'squeezenet1.1']);
    assert.equal((await found('--framework', 'any')).length, ZOO.length);
    const none = await place.run(['registry', 'models', '--task', 'cooking']);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /^none of \d+ models fits; the tasks are: .*object_detection/);
  });

  it('lists them as JSON, with the references that commands take', async (t) => {
    const place = await workplaceHere(t);
    const { stdout } = await place.run(['registry', 'models', '--json']);
    const models = JSON.parse(stdout) as readonly { reference: string; manifest: string }[];
    assert.deepEqual(models.map(({ reference }) => reference).sort(), ZOO.map(({ name }) => `zoo:${name}`).sort());
    assert(models.every(({ manifest }) => existsSync(manifest)));
  });
});

describe('registry agents', { ...deadline, concurrency: 2 }, () => {
  it('describes this machine in a table', async (t) => {
    const { stdout, stderr, code } = await (await workplaceHere(t)).run(['registry', 'agents']);
    assert.deepEqual({ stderr, code }, { stderr: '', code: 0 });
    assert.match(stdout, new RegExp(`│ \\(this machine\\) │ onnxruntime \\S+ │ ${process.arch} `));
  });

  it('describes it as JSON', async (t) => {
    const { stdout } = await (await workplaceHere(t)).run(['registry', 'agents', '--json']);
    const [agent] = JSON.parse(stdout) as [{ address: null; architecture: string; cores: number }];
    assert.deepEqual([agent.address, agent.architecture], [null, process.arch]);
    assert(agent.cores >= 1);
  });
});

describe('zoo', deadline, () => {
  it('makes the files of the models and prints where they are', async (t) => {
    const place = await workplaceHere(t);
    const { stdout, stderr, code } = await place.run(['zoo', 'squeezenet1.1', 'zoo:mobilenet_v2']);
    assert.deepEqual({ stderr, code }, { stderr: '', code: 0 });
    const files = stdout.trimEnd().split('\n');
    assert.deepEqual(
      files.map((file) => [file.startsWith(place.path('cache')), file.split('/').at(-1), existsSync(file)]),
      [
        [true, 'squeezenet1.1.onnx', true],
        [true, 'mobilenet_v2.onnx', true],
      ],
    );
  });
});
