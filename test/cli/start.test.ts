import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { deadline, workplace } from './support/command.js';

describe('the start of a command', deadline, () => {
  it('prints the version of the package', async (t) => {
    const place = await workplace(t);
    const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    const { stdout, stderr, code } = await place.run(['--version']);
    assert.deepEqual({ stdout, stderr, code }, { stdout: `${version}\n`, stderr: '', code: 0 });
  });

  it('loads no driver of a server that it does not use, which would take a quarter of the time', async (t) => {
    const place = await workplace(t);
    const { stdout, stderr } = await place.run(['--version'], { env: { NODE_DEBUG: 'module' } });
    assert.match(stdout, /^\d+\.\d+\.\d+/);
    assert.match(stderr, /node_modules\/commander\//, 'the modules that are loaded are listed');
    assert.doesNotMatch(stderr, /node_modules\/(mongodb|sharp|onnxruntime-\w+|@opentelemetry)\//);
  });

  it('loads no code of other commands, nor of plugins that it does not need', async (t) => {
    const place = await workplace(t);
    const env = { NODE_DEBUG: 'esm' };
    const { stderr } = await place.run(['store', 'info'], { env });
    const files = new Set([...stderr.matchAll(/file:\/\/\/[^'"\s]*\/(?:lib|dist)\/[^'"\s]*\.js/g)].map(([url]) => url));
    const loaded = await Promise.all([...files].map((url) => readFile(new URL(url), 'utf8')));
    // The build names each module before its code.
    const modules = loaded.flatMap((text) => [...text.matchAll(/^\/\/ dist\/(.*\.js)$/gm)].map(([, module]) => module));
    assert.ok(modules.includes('src/cli/commands/store.js'), 'the modules that are loaded are listed');
    const unneeded = /^(plugins\/dlbricks|src\/zoo\/architectures)\/|^src\/cli\/commands\/agent\.js$/;
    assert.deepEqual(
      modules.filter((module) => unneeded.test(module ?? '')),
      [],
    );
    assert.doesNotMatch(stderr, /@grpc\//);
  });
});
