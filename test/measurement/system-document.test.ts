import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stackText, systemDocumentSchema, toSystemDocument } from '../../src/measurement/system-document.js';
import { buildRunOptions } from '../../src/measurement/system.js';
import { sampleSystem, SYSTEM } from '../store/sample-measurement.js';

test('the document of a system has its stack and its run options, with the defaults', () => {
  const document = toSystemDocument(SYSTEM);
  assert.deepEqual(document, {
    fingerprint: SYSTEM.fingerprint,
    processor: 'Test CPU @ 3.00GHz',
    architecture: 'x64',
    operating_system: 'Linux 6.1',
    cores: 2,
    memory_bytes: 8 * 1024 ** 3,
    processor_features: ['avx2', 'avx512f'],
    framework: 'onnxruntime',
    framework_version: '1.30.0',
    threads: 1,
    execution_provider: 'cpu',
    optimization_level: 'all',
    execution_mode: 'sequential',
    inter_op_threads: 1,
    session: [],
  });
  assert.equal(stackText(document), 'Test CPU @ 3.00GHz, 1 of 2 cores, onnxruntime 1.30.0');
  assert.equal(
    stackText({ ...document, threads: 64 }),
    'Test CPU @ 3.00GHz, 64 threads on 2 cores, onnxruntime 1.30.0',
  );
  const older = { ...document, execution_mode: undefined, inter_op_threads: undefined, session: undefined };
  assert.deepEqual(systemDocumentSchema.parse(older), document);
});

test('the document of a system has the run options that are no defaults', () => {
  const runOptions = {
    ...buildRunOptions(2),
    executionMode: 'parallel' as const,
    interOpThreads: 3,
    session: ['enableMemPattern=0'],
  };
  const document = toSystemDocument(sampleSystem({ runOptions }));
  const { threads, execution_mode: mode, inter_op_threads: atATime, session } = systemDocumentSchema.parse(document);
  assert.deepEqual([threads, mode, atATime, session], [2, 'parallel', 3, ['enableMemPattern=0']]);
});
