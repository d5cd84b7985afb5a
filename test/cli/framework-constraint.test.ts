import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { olderManifest, TINY_GRAPH } from '../fetch/support/older-manifest.js';
import { predictClient } from '../agent/support/predict-client.js';
import { deadline, type Workplace } from './support/command.js';
import { assertOneMessage } from './support/report.js';
import { workplaceHere } from './support/workplace-here.js';

const MODEL = '    graph_path: tiny.onnx';

const UNMET = /model Tiny-Net v1: expected onnxruntime 1\.7\.1, found onnxruntime \d+\.\d+\.\d+/;

const REMEDY = /--allow-version accepts other versions of a framework; `framework: any` in a model's manifest/;

const EVALUATION = `dlspec: evaluation/v1
name: exact
version: 1.0.0
models: [exact.yml]
settings: { repeat_limit: 0, remeasure: none }
protocol: { runs: 3, warmup_runs: 0 }
`;

/** Manifests that ask for exactly the version that their author had, and for any framework. */
async function manifests(place: Workplace): Promise<void> {
  await place.write('tiny.onnx', TINY_GRAPH);
  await place.write('exact.yml', olderManifest(MODEL, '1.7.1'));
  await place.write('any.yml', olderManifest(MODEL).replace(/framework:[\s\S]*?version: .*\n/, 'framework: any\n'));
  await place.write('tensorflow.yml', olderManifest(MODEL).replace('Onnxruntime', 'TensorFlow'));
  await place.write('evaluation.yml', EVALUATION);
}

const COMMANDS: readonly (readonly [string, readonly string[], number])[] = [
  ['dlbricks validate', ['dlbricks', 'validate', 'exact.yml', '--runs', '3', '--warmup', '0', '--quiet'], 1],
  ['dlbricks run', ['dlbricks', 'run', 'evaluation.yml', '--quiet'], 1],
  ['latency', ['latency', 'exact.yml', '--runs', '3', '--quiet'], 1],
  ['evaluate', ['evaluate', 'evaluation.yml', '--quiet'], 1],
];

describe(
  'a framework version that a model’s manifest asks for, and that is missing,',
  { ...deadline, concurrency: 2 },
  () => {
    for (const [name, args, code] of COMMANDS) {
      it(`is an error of ${name} that --allow-version turns off`, async (t) => {
        const place = await workplaceHere(t);
        await manifests(place);
        const refused = await place.run(args);
        assertOneMessage(refused);
        assert.match(refused.stderr, UNMET);
        assert.match(refused.stderr, REMEDY);
        assert.equal(refused.code, code);
        const taken = await place.run([...args, '--allow-version']);
        assert.equal(taken.code, 0, taken.stderr);
      });
    }

    it('is never replaced by another framework', async (t) => {
      const place = await workplaceHere(t);
      await manifests(place);
      const args = ['latency', '--runs', '3', '--quiet', '--allow-version'];
      const { stderr, code } = await place.run([...args, 'tensorflow.yml']);
      assert.match(stderr, /expected tensorflow >=1\.0\.0, found onnxruntime [\d.]+; export the model to ONNX, and/);
      assert.doesNotMatch(stderr, /--allow-version/);
      assert.equal(code, 1);
      assert.equal((await place.run([...args, 'any.yml'])).code, 0);
    });

    it('is no other framework: the advice for an evaluation does not name --allow-version', async (t) => {
      const place = await workplaceHere(t);
      await manifests(place);
      await place.write('other.yml', EVALUATION.replace('exact.yml', 'tensorflow.yml'));
      for (const command of [['dlbricks', 'run'], ['evaluate']]) {
        const { stderr, code } = await place.run([...command, 'other.yml', '--quiet', '--allow-version']);
        assert.match(stderr, /export the model to ONNX, and give the ONNX file a manifest with `framework: any`/);
        assert.match(stderr, /model .+: expected tensorflow >=1\.0\.0, found onnxruntime [\d.]+/);
        assert.doesNotMatch(stderr, /--allow-version/);
        assert.equal(code, 1);
      }
    });

    it('is an error of Open at an agent that allows no other version', async (t) => {
      const place = await workplaceHere(t);
      await manifests(place);
      const opened = async (...flags: readonly string[]): Promise<string> => {
        const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--models', '.', ...flags]);
        const [, address = ''] = await agent.said(/^agent listening on (\S+)\n/);
        const client = predictClient(address);
        try {
          return await client.open('tiny-net V1').then(
            () => 'open',
            (error: Error) => error.message,
          );
        } finally {
          client.close();
          agent.process.kill('SIGINT');
          await agent.ended;
        }
      };
      await place.write('any.yml', olderManifest(MODEL, '1.7.1'));
      const refused = await opened();
      assert.match(refused, UNMET);
      assert.match(refused, REMEDY);
      assert.equal(await opened('--allow-version'), 'open');
    });
  },
);
