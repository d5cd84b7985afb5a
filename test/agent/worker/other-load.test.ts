import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LOCK_GROUP_VARIABLE } from '../../../src/agent/worker/machine-lock.js';
import type { Conditions } from '../../../src/measurement/conditions.js';
import { measureOne, setupOf } from '../support/measure-one.js';
import { needsLinux } from '../support/processes.js';
import { agentForSuite } from '../support/running-agent.js';
import { matMul, protocol, runOptions } from '../support/tiny-benchmarks.js';

// Tests of other files measure in a group. Processes of a group do not check for other load.
const group = process.env[LOCK_GROUP_VARIABLE];
Reflect.deleteProperty(process.env, LOCK_GROUP_VARIABLE);

function assertKnown(conditions: Conditions | undefined): void {
  assert.ok(conditions !== undefined && conditions.wallMs > 0 && conditions.cores > 0);
  assert.equal(typeof conditions.othersMs, 'number');
}

describe('an agent that measures alone on its machine', { skip: needsLinux, timeout: 300_000 }, () => {
  const agent = agentForSuite();

  test('states the other load during a measurement, and whether its core was shared', async () => {
    const { outcome, conditions } = await measureOne(agent().client, matMul, runOptions, protocol);
    assert.equal(outcome.kind, 'samples');
    assertKnown(conditions);
    assert.equal(typeof conditions?.sharedShare, 'number');
  });

  test('states the other load during a trace', async () => {
    const request = { benchmark: matMul, runOptions, ...setupOf(protocol) };
    const { conditions } = await agent().client.trace(request, 'FRAMEWORK_TRACE');
    assertKnown(conditions);
  });
});

describe('an agent of a group', { skip: needsLinux, timeout: 300_000 }, () => {
  const agent = agentForSuite();

  test('does not state the other load', async () => {
    process.env[LOCK_GROUP_VARIABLE] = group ?? 'a group';
    const { outcome, conditions } = await measureOne(agent().client, matMul, runOptions, protocol);
    assert.deepEqual([outcome.kind, conditions], ['samples', undefined]);
  });
});
