import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { Measurement, System } from '../../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { ModelProto, NodeProto } from '../../../src/generated/onnx/onnx.js';
import { outcomeSchema } from '../../../src/measurement/measurement.js';
import { deadline } from '../../cli/support/command.js';
import { QUICK } from '../../cli/support/tiny-models.js';
import { workplaceHere } from '../../cli/support/workplace-here.js';
import { floats, model, node, value } from '../../onnx/protos.js';

const OPERATORS = ['Relu', 'Sigmoid', 'Tanh'];

/** Two products with weights, and functions of one value after them; its batch is open. */
function network(): Uint8Array {
  const weights = ['w1', 'w2'].map((name) => floats(name, new Array<number>(64 * 64).fill(0.5), [64, 64]));
  const nodes = [
    node('MatMul', ['x', 'w1'], ['v0']),
    ...OPERATORS.map((operator, index) => node(operator, [`v${index}`], [`v${index + 1}`])),
    node('MatMul', ['v3', 'w2'], ['y']),
  ];
  const ends = { input: [value('x', ['batch', 64])], output: [value('y', ['batch', 64])] };
  return model({ node: nodes, initializer: weights, ...ends }, {});
}

/** Contents that are hashed, each as often as it is. Every model and every brick that is encoded is hashed. */
function hashedIn(t: TestContext): ReadonlyMap<string, number> {
  const hashed = new Map<string, number>();
  const real = crypto.createHash;
  t.mock.method(crypto, 'createHash', (algorithm: string) => {
    const hash = real(algorithm);
    const update = hash.update.bind(hash);
    return Object.assign(hash, {
      update(content: string | Uint8Array) {
        const key = Buffer.from(content).toString('latin1');
        hashed.set(key, (hashed.get(key) ?? 0) + 1);
        return update(content);
      },
    });
  });
  return hashed;
}

test('a run of several sizes reads, decodes, encodes, hashes and checks everything once', deadline, async (t) => {
  const place = await workplaceHere(t);
  await place.write('net.onnx', network());
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const hashed = hashedIn(t);
  const { mock: wholeReadings } = t.mock.method(fs, 'createReadStream');
  syncBuiltinESMExports();
  const { mock: decodings } = t.mock.method(ModelProto, 'decode');
  const { mock: encodings } = t.mock.method(NodeProto, 'encode');
  const { mock: checks } = t.mock.method(outcomeSchema._zod, 'run');
  const { mock: answers } = t.mock.method(Measurement, 'decode');
  const { mock: systemsSent } = t.mock.method(System, 'encode');

  const sizes = ['--batch', '1,2', '--threads', '1,2'];
  const args = ['dlbricks', 'run', 'net.onnx', ...sizes, '--store', 'memory:', ...QUICK];
  const { code, stderr } = await place.run(args);
  assert.equal(code, 0, stderr);

  // The file; and for each size and number of threads the graph that the runtime makes of it, with either weights.
  assert.equal(decodings.callCount(), 1 + 4 * 2);
  assert.equal(wholeReadings.callCount(), 1);
  // The model's nodes; and in each cell those of its bricks, and of the empty call.
  const nodes = OPERATORS.length + 2;
  assert.equal(encodings.callCount(), nodes + 4 * (nodes + 1));
  const timesOf = (isWanted: (content: string) => boolean): readonly number[] => {
    return [...hashed].filter(([content]) => isWanted(content)).map(([, times]) => times);
  };
  // The file's identity; and of each size the model, and the model without its name.
  assert.deepEqual(
    timesOf((content) => OPERATORS.every((operator) => content.includes(operator))),
    [1, 1, 1, 1, 1],
  );
  for (const operator of OPERATORS) {
    // The bricks of two sizes, each cut for both numbers of threads.
    assert.deepEqual(
      timesOf((content) => content.includes(`${operator}\x12\x05brick`)),
      [2, 2],
      operator,
    );
  }
  assert.equal(answers.callCount(), 2 * (2 * (OPERATORS.length + 1) + 1));
  assert.equal(checks.callCount(), answers.callCount());
  assert.equal(systemsSent.callCount(), 1);
  // By the agent, and by its client twice: of its description, and of the system that is measured.
  assert.deepEqual(
    timesOf((content) => content.includes('"onnxruntime"')).filter((times) => times > 3),
    [],
  );
});
