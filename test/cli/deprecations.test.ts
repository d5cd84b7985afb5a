import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadline, workplace } from './support/command.js';
import { chain, LAYER_CUT, MEASURED_ONCE, QUICK } from './support/tiny-models.js';

/** Makes Node end a process that uses a deprecated feature, instead of printing a warning. */
const STRICT = { NODE_OPTIONS: '--throw-deprecation' };

describe('a deprecated feature of Node', deadline, () => {
  it('is used by no command that measures, stores, serves or looks into a store', async (t) => {
    const place = await workplace(t);
    await place.write('model.onnx', chain(['Relu']));
    const header = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0' };
    const manifest = { ...header, models: ['model.onnx'], settings: MEASURED_ONCE, protocol: { runs: 3, min_runs: 1 } };
    await place.write('evaluation.yml', JSON.stringify(manifest));
    for (const args of [
      ['latency', 'model.onnx', ...QUICK],
      ['dlbricks', 'run', 'model.onnx', ...LAYER_CUT, ...QUICK],
      ['evaluate', 'evaluation.yml'],
      ['store', 'list'],
    ]) {
      const { code, stderr } = await place.run(args, { env: STRICT });
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /Deprecation/);
    }
  });
});
