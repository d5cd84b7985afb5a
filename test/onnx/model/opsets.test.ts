import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NEWEST_IR_VERSION, SUPPORTED_OPSETS } from '../../../src/onnx/model/opsets.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { model, node, value } from '../protos.js';
import { float32, runModel } from '../run-model.js';

interface Versions {
  readonly domain?: string;
  readonly opType?: string;
  readonly version?: number;
  readonly irVersion?: number;
}

function encodedModel({ domain = '', opType = 'Relu', version = 17, irVersion = 8 }: Versions): Uint8Array {
  const imports = new Map([
    ['', 17n],
    [domain, BigInt(version)],
  ]);
  return model(
    { node: [node(opType, ['x'], ['y'], [], { domain })], input: [value('x', [1, 4])], output: [value('y')] },
    { irVersion: BigInt(irVersion), opsetImport: [...imports].map(([name, v]) => ({ domain: name, version: v })) },
  );
}

const OPERATORS = new Map([
  ['', 'Softmax'],
  ['ai.onnx.ml', 'Normalizer'],
  ['com.microsoft', 'Gelu'],
]);
const x = float32([-1, 0, 1, 2]);

describe('the supported versions are those that the installed runtime accepts', () => {
  for (const [domain, { oldest, newest }] of SUPPORTED_OPSETS) {
    const opType = OPERATORS.get(domain);
    assert.ok(opType);
    for (const version of [oldest, newest]) {
      test(`opset ${version} of ${domain || 'ai.onnx'} runs`, async () => {
        await runModel(encodedModel({ domain, opType, version }), { x });
      });
    }
    test(`opset ${newest + 1} of ${domain || 'ai.onnx'} does not`, async () => {
      await assert.rejects(runModel(encodedModel({ domain, opType, version: newest + 1 }), { x }));
    });
  }
  test(`IR version ${NEWEST_IR_VERSION} runs`, async () => {
    await runModel(encodedModel({ irVersion: NEWEST_IR_VERSION }), { x });
  });
  test(`IR version ${NEWEST_IR_VERSION + 1} does not`, async () => {
    await assert.rejects(runModel(encodedModel({ irVersion: NEWEST_IR_VERSION + 1 }), { x }));
  });
});

describe('a version that is not supported names file, domain and version', () => {
  const wrong: [Versions, RegExp][] = [
    [{ version: 0 }, /^m\.onnx: opset 0 of ai\.onnx is older than the supported ones \(1 to \d+\)/],
    [{ version: 99 }, /^m\.onnx: opset 99 of ai\.onnx is newer/],
    [{ domain: 'com.microsoft', opType: 'Gelu', version: 2 }, /opset 2 of "com\.microsoft" is newer/],
    [{ irVersion: 99 }, /IR version 99 is newer/],
  ];
  for (const [versions, pattern] of wrong) {
    test(JSON.stringify(versions), () => {
      assert.throws(() => parseModel(encodedModel(versions), 'm.onnx'), { name: 'PlatformError', message: pattern });
    });
  }

  test('a domain without a version', () => {
    const bytes = model({
      node: [node('Own', ['x'], ['y'], [], { domain: 'own' })],
      input: [value('x', [1])],
      output: [value('y')],
    });
    assert.throws(() => parseModel(bytes, 'm.onnx'), /operators of "own" without stating their version/);
  });
});
