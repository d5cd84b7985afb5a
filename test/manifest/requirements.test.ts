import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HardwareConstraint } from '../../src/manifest/hardware.js';
import type { ResolvedEvaluation } from '../../src/manifest/resolve-evaluation.js';
import { ONE_AGENT } from '../../src/manifest/agents.js';
import {
  meetsFramework,
  listRequirements,
  findRemedies,
  type UnmetRequirement,
  unmetRequirements,
} from '../../src/manifest/requirements.js';
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
  return {
    ok: true,
    evaluation,
    models: [],
    hardware,
    software,
    dataset: undefined,
    notes: [],
    identities: [],
    document,
  };
}

function problemsIn(unmet: readonly UnmetRequirement[]): readonly string[] {
  return unmet.map(({ problem }) => problem);
}

test('a system that is all that is required may run', () => {
  const hardware = { architecture: 'x64', processor: 'epyc', cores: { min: 2 }, memory: { min_gib: 4 } } as const;
  assert.deepEqual(unmetRequirements(resolved(hardware, { name: 'onnxruntime', version: '^1.20' }), SYSTEM), []);
});

test('all unmet requirements are reported', () => {
  const hardware = { architecture: 'arm64', processor: 'Xeon', cores: { min: 4 }, memory: { min_gib: 8 } } as const;
  const unmet = unmetRequirements(resolved(hardware, { name: 'onnxruntime', version: '1.6.0' }), SYSTEM);
  assert.deepEqual(problemsIn(unmet), [
    'hardware: expected architecture arm64, found x64',
    'hardware: expected a processor "Xeon", found "AMD EPYC 9R14"',
    'hardware: expected at least 4 cores, found 2',
    'hardware: expected at least 8 GiB of memory, found 4.0 GiB',
    'software: expected onnxruntime 1.6.0, found onnxruntime 1.30.0',
  ]);
  assert.deepEqual(findRemedies(unmet), [
    'change `hardware` in the manifest',
    '--allow-version accepts other versions of a framework',
  ]);
});

test('more threads than the system has cores are reported', () => {
  const unmet = unmetRequirements({ ...resolved(undefined), threads: 3 }, SYSTEM);
  assert.deepEqual(problemsIn(unmet), ['threads: expected at least 3 cores, found 2']);
  assert.deepEqual(unmetRequirements({ ...resolved(undefined), threads: 2 }, SYSTEM), []);
});

test('software and a model that need another framework are reported, with what helps', () => {
  const manifest = manifestOf(
    'model',
    'name: a\nversion: 1.0\nframework: {name: MXNet, version: 1.x}\ninputs: [{type: image}]\nmodel: {graph_path: a.onnx}',
  );
  const source = { kind: 'file', path: 'a.onnx', checksum: undefined } as const;
  const models = [{ name: 'a', source, manifest }];
  const software = { name: 'mxnet', version: '1.x' };
  const unmet = unmetRequirements({ ...resolved(undefined, software), models }, SYSTEM);
  assert.deepEqual(problemsIn(unmet), [
    'software: expected mxnet 1.x, found onnxruntime 1.30.0',
    'model a: expected mxnet 1.x, found onnxruntime 1.30.0',
  ]);
  // Another version does not help.
  assert.deepEqual(findRemedies(unmet), [
    'change `software` in the manifest',
    'export the model to ONNX, and give the ONNX file a manifest with `framework: any`',
  ]);
});

test('a model that needs another version is reported with the option that accepts it', () => {
  const models = [{ name: 'a', manifest: { framework: { name: 'onnxruntime', version: '1.6.0' } } }];
  const unmet = unmetRequirements({ ...resolved(undefined), models }, SYSTEM);
  assert.deepEqual(problemsIn(unmet), ['model a: expected onnxruntime 1.6.0, found onnxruntime 1.30.0']);
  assert.match(findRemedies(unmet).join(), /^--allow-version accepts other versions/);
  assert.deepEqual(unmetRequirements({ ...resolved(undefined), models, allowVersion: true }, SYSTEM), []);
});

test("a part of a processor's name fits in upper and lower case", () => {
  for (const processor of ['EPYC', 'amd epyc', '9r14']) {
    assert.deepEqual(unmetRequirements(resolved({ processor }), SYSTEM), []);
  }
});

test('a version before a release fits a range as the release does, and any version fits where that is allowed', () => {
  const required = { name: 'ONNX Runtime', version: '^1.20' };
  const found = (frameworkVersion: string) => ({ framework: 'onnxruntime', frameworkVersion });
  assert.ok(meetsFramework(required, found('1.30.0-dev.5')));
  assert.ok(!meetsFramework(required, found('2.0.0')));
  assert.ok(meetsFramework(required, found('2.0.0'), true));
  assert.ok(!meetsFramework(required, { framework: 'mxnet', frameworkVersion: '1.30.0' }, true));
  assert.ok(meetsFramework('any', found('2.0.0')));
});

test('requirements are taken from an evaluation without anything else of it', () => {
  const hardware = { cores: { min: 2 } };
  const software = { framework: { name: 'onnxruntime', version: '^1.20' } };
  const evaluation = { ...resolved(hardware, software.framework), agents: ONE_AGENT, threads: 2 };
  const manifest = manifestOf(
    'model',
    'name: a\nversion: 1.0\nframework: any\ninputs: [{type: image}]\nmodel: {graph_path: a.onnx}',
  );
  const models = [
    { name: 'a', manifest },
    { name: 'b', manifest: undefined },
  ];
  const required = {
    hardware,
    software,
    models: [{ name: 'a', manifest: { framework: 'any' } }, models[1]],
    agents: ONE_AGENT,
    threads: 2,
  };
  assert.deepEqual(listRequirements({ ...evaluation, models }), required);
  assert.deepEqual(listRequirements({ ...evaluation, models, allowVersion: false }), required);
  assert.deepEqual(listRequirements({ ...evaluation, models, allowVersion: true }), {
    ...required,
    allowVersion: true,
  });
});
