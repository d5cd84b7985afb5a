import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { orThrow } from '../../src/manifest/problem.js';
import { resolveEvaluation } from '../../src/manifest/resolve-evaluation.js';
import { unmetRequirements } from '../../src/manifest/requirements.js';
import { createDirectory, type AgentDirectory, type Unmet } from '../../src/directory/agent-directory.js';
import { offer } from './support/offer.js';
import { temporaryFolder } from '../store/temporary-folder.js';

/** The requirements that an agent does not meet, of an evaluation manifest with these lines. */
async function requirementsOf(t: TestContext, ...lines: readonly string[]): Promise<Unmet> {
  const folder = await temporaryFolder(t);
  const manifest = ['dlspec: evaluation/v1', 'name: x', 'version: 1.0.0', 'models: [zoo:resnet18]', ...lines];
  await writeFile(join(folder, 'evaluation.yml'), manifest.join('\n'));
  const resolved = orThrow(
    await resolveEvaluation(join(folder, 'evaluation.yml'), { zooNames: () => Promise.resolve(['resnet18']) }),
  );
  return (candidate) => unmetRequirements(resolved, candidate);
}

function threeAgents(): AgentDirectory {
  const directory = createDirectory();
  directory.register(offer({ address: 'epyc:1', cores: 96, memoryBytes: 256 * 2 ** 30 }));
  directory.register(offer({ address: 'xeon:1', processor: 'Intel(R) Xeon(R) Gold 6338', frameworkVersion: '1.19.2' }));
  directory.register(offer({ address: 'graviton:1', architecture: 'arm64', processor: 'Neoverse-V1', cores: 2 }));
  return directory;
}

describe('an evaluation’s constraints', () => {
  for (const [what, line, address] of [
    ['architecture', 'hardware: { architecture: arm64 }', 'graviton:1'],
    ['a part of the processor’s name', 'hardware: { processor: xeon }', 'xeon:1'],
    ['cores', 'hardware: { cores: { min: 16 } }', 'epyc:1'],
    ['memory', 'hardware: { memory: { min_gib: 100 } }', 'epyc:1'],
    ['a range of framework versions', 'software: { framework: { name: onnxruntime, version: <1.20 } }', 'xeon:1'],
  ] as const) {
    test(`choose an agent by ${what}`, async (t) => {
      assert.equal(threeAgents().choose(await requirementsOf(t, line)).address, address);
    });
  }

  test('that no agent meets are listed for each agent', async (t) => {
    const unmet = await requirementsOf(
      t,
      'hardware: { architecture: arm64, cores: { min: 4 } }',
      'software: { framework: { name: onnxruntime, version: ^1.20 } }',
    );
    assert.throws(
      () => threeAgents().choose(unmet),
      (error: Error) => {
        assert.deepEqual(error.message.split('\n').slice(1), [
          '  epyc:1: hardware: expected architecture arm64, found x64',
          '  xeon:1: hardware: expected architecture arm64, found x64',
          '  xeon:1: software: expected onnxruntime ^1.20, found onnxruntime 1.19.2',
          '  graviton:1: hardware: expected at least 4 cores, found 2',
        ]);
        return true;
      },
    );
  });
});
