import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ZOO } from '../../src/zoo/zoo.js';
import { deadline } from './support/command.js';
import { workplaceHere } from './support/workplace-here.js';

describe('registry models', { ...deadline, concurrency: 2 }, () => {
  it('lists every model of the zoo in a table', async (t) => {
    const { stdout, stderr, code } = await (await workplaceHere(t)).run(['registry', 'models']);
    assert.deepEqual({ stderr, code }, { stderr: '', code: 0 });
    for (const { name, title } of ZOO) {
      const row = stdout.split('\n').find((line) => line.includes(`│ zoo:${name} `));
      assert(row?.includes(title) === true, `${name}: ${row}`);
    }
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
