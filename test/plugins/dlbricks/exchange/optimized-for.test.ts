import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  differencesBetween,
  type OptimizedFor,
  describeOptimizedFor,
} from '../../../../plugins/dlbricks/exchange/suite.js';
import { sampleSystem } from '../../../store/sample-measurement.js';

const here: OptimizedFor = {
  framework: 'onnxruntime',
  framework_version: '1.30.0',
  architecture: 'x64',
  processor_features: ['avx2', 'avx512f'],
};

describe('a suite that was cut elsewhere', () => {
  test('has no differences if the runtime would optimize in the same way here', () => {
    assert.deepEqual(differencesBetween(here, here), []);
    const newer = { ...here, processor_features: ['amx_tile', 'avx2', 'avx512f'] };
    assert.deepEqual(differencesBetween(newer, here), []);
  });

  test('has another layout if the processor has vectors of another width', () => {
    const [difference, ...more] = differencesBetween({ ...here, processor_features: ['avx2'] }, here);
    assert.match(difference ?? '', /blocks of 8 channels.*blocks of 16 channels/);
    assert.deepEqual(more, []);
  });

  test('has another layout on another architecture', () => {
    const [difference] = differencesBetween({ ...here, architecture: 'arm64', processor_features: ['asimd'] }, here);
    assert.match(difference ?? '', /cut for arm64, this processor is x64 with blocks of 16/);
  });

  test('may have other kernels if the runtime is another one', () => {
    const [difference] = differencesBetween({ ...here, framework_version: '1.20.0' }, here);
    assert.match(difference ?? '', /onnxruntime 1\.20\.0.*onnxruntime 1\.30\.0/);
  });

  test('names no machine', () => {
    const system = sampleSystem({ processor: 'Secret 9000' });
    assert.doesNotMatch(JSON.stringify(describeOptimizedFor(system)), /Secret/);
  });
});
