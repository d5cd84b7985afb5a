import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HardwareConstraint, type ResolvedEvaluation, unmetRequirements } from '../../src/manifest/index.js';
import type { System } from '../../src/measurement/system.js';
import { parseDocument } from '../../src/manifest/document.js';
import { orThrow } from '../../src/manifest/problem.js';
import { manifestOf } from './read-manifest.js';

const SYSTEM: System = {
  fingerprint: '0'.repeat(64),
  processor: 'AMD EPYC 9R14',
  architecture: 'x64',
  operatingSystem: 'linux',
  cores: 2,
  memoryBytes: 4 * 2 ** 30,
  cacheBytes: 32 * 2 ** 20,
  processorFeatures: [],
  framework: 'onnxruntime',
  frameworkVersion: '1.30.0',
  runOptions: { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' },
};

function resolved(
  hardware: HardwareConstraint | undefined,
  framework?: { name: string; version: string },
): ResolvedEvaluation {
  const yaml = 'dlspec: evaluation/v1\nname: e\nversion: 1.0.0\nmodels: [zoo:a]';
  const evaluation = manifestOf('evaluation', yaml);
  const software = framework && { framework };
  const document = orThrow(parseDocument('evaluation.yml', Buffer.from(yaml)));
  return { ok: true, evaluation, models: [], hardware, software, dataset: undefined, notes: [], document };
}

test('a system that is all that is required may run', () => {
  const hardware = { architecture: 'x64', processor: 'epyc', cores: { min: 2 }, memory: { min_gib: 4 } } as const;
  assert.deepEqual(unmetRequirements(resolved(hardware, { name: 'onnxruntime', version: '^1.20' }), SYSTEM), []);
});

test('all unmet requirements are reported', () => {
  const hardware = { architecture: 'arm64', processor: 'Xeon', cores: { min: 4 }, memory: { min_gib: 8 } } as const;
  assert.deepEqual(unmetRequirements(resolved(hardware, { name: 'onnxruntime', version: '1.6.0' }), SYSTEM), [
    'hardware: expected architecture arm64, found x64',
    'hardware: expected a processor "Xeon", found "AMD EPYC 9R14"',
    'hardware: expected at least 4 cores, found 2',
    'hardware: expected at least 8 GiB of memory, found 4.0 GiB',
    'software: expected onnxruntime 1.6.0, found onnxruntime 1.30.0',
  ]);
});

test('a model that needs another framework is reported', () => {
  const manifest = manifestOf(
    'model',
    'name: a\nversion: 1.0\nframework: {name: MXNet, version: 1.x}\ninputs: [{type: image}]\nmodel: {graph_path: a.onnx}',
  );
  const source = { kind: 'file', path: 'a.onnx', checksum: undefined } as const;
  const models = [{ name: 'a', source, manifest }];
  assert.deepEqual(unmetRequirements({ ...resolved(undefined), models }, SYSTEM), [
    'model a: expected mxnet 1.x, found onnxruntime 1.30.0',
  ]);
});
