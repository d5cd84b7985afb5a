import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { deadline } from './support/command.js';
import { chain } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const manifest = (asked: string): string => `dlspec: evaluation/v1
name: many
version: 1.0.0
models: [net.onnx]
${asked}
`;

const COMMANDS: readonly (readonly string[])[] = [
  ['dlbricks', 'run', 'net.onnx', '--threads', '1,1000'],
  ['latency', 'net.onnx', '--threads', '1,1000'],
  ['load', 'net.onnx', '--threads', '1000'],
  ['trace', 'model', 'net.onnx', '--threads', '1000'],
  ['machine', '--threads', '1,1000'],
];

describe('more threads than the machine has cores', { ...deadline, concurrency: 2 }, () => {
  for (const args of COMMANDS) {
    it(`are refused by ${args.join(' ')} before it measures`, async (t) => {
      const place = await workplaceHere(t);
      await place.write('net.onnx', chain(['Relu', 'Tanh']));
      const { stderr, code } = await place.run(args);
      assert.match(stderr, /threads: 1000 threads on \d+ cores? of the agent's machine; ask for at most \d+ with/);
      assert.notEqual(code, 0);
      // The store of `trace` has the spans of reading the model.
      if (args[0] !== 'trace') assert.equal(existsSync(place.store), false);
      else {
        const { stdout } = await place.run(['store', 'info', '--json']);
        assert.deepEqual((JSON.parse(stdout) as { systems: unknown[] }).systems, []);
      }
    });
  }

  it('keep an evaluation from its agent, unless the command line asks for fewer', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(['Relu', 'Tanh']));
    await place.write('threads.yml', manifest('threads: 1000'));
    await place.write('matrix.yml', manifest('matrix: { threads: [1, 1000] }'));
    await place.write('settings.yml', manifest('settings: { matrix: { threads: [1, 1000] } }'));
    for (const command of [['evaluate'], ['dlbricks', 'run']]) {
      for (const file of ['threads.yml', 'matrix.yml', 'settings.yml']) {
        const { stdout, stderr, code } = await place.run([...command, file]);
        assert.match(stderr, /ask for fewer with `threads` in the manifest/);
        assert.match(stderr, /threads: expected at least 1000 cores, found \d+/);
        assert.deepEqual([stdout, code], ['', 1]);
      }
    }
    const { stderr, code } = await place.run(['dlbricks', 'run', 'threads.yml', '--threads', '1', '--runs', '3']);
    assert.ok(code === 0 || code === 3, stderr);
  });
});
