import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abilitiesWith, type AgentDescription } from '../../../src/agent/agent-description.js';
import { createFakeAgent } from '../../support/fake-agent.js';
import { fromWireDescription, toWireDescription } from '../../../src/agent/wire/description-wire.js';
import { DescribeSystemResponse } from '../../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { ANY_RUN } from '../../../src/measurement/system.js';
import { sent } from '../support/sent.js';

const surroundings = {
  node: '20.20.2',
  libc: 'glibc 2.36',
  kernel: '6.18.0',
  container: null,
  environment: { OMP_NUM_THREADS: '1' },
};

const description: AgentDescription = {
  ...createFakeAgent({ latencyOf: () => 1 }).description,
  abilities: ['optimize', 'trace'],
  traceLevels: ['APPLICATION_TRACE'],
};

function arrived(one: AgentDescription): AgentDescription {
  return fromWireDescription(sent(DescribeSystemResponse, toWireDescription(one, ANY_RUN)), 'here:1');
}

test('a description arrives as it was sent, with and without what the agent runs in', () => {
  const devices = [{ kind: 'gpu', name: 'a card', memoryBytes: 2 ** 34 }];
  for (const around of [
    {},
    { surroundings },
    { surroundings: { ...surroundings, decoder: 'sharp 0.34' } },
    { devices },
  ]) {
    assert.deepEqual(arrived({ ...description, ...around }), { ...description, ...around });
  }
});

test('an agent of an earlier version, which names no abilities, has those of its time', () => {
  const message = { ...toWireDescription(description, ANY_RUN), abilities: [], traceLevels: [] };
  for (const measuresTogether of [true, false]) {
    const { abilities, traceLevels } = fromWireDescription({ ...message, measuresTogether }, 'here:1');
    assert.deepEqual({ abilities, traceLevels }, abilitiesWith(measuresTogether));
  }
});

test('an agent that names no host is known by its address', () => {
  assert.equal(
    fromWireDescription({ ...toWireDescription(description, ANY_RUN), hostname: '' }, 'here:1').host,
    'here:1',
  );
});

test('a description without a system is refused with the place of what is missing', () => {
  const message = { ...toWireDescription(description, ANY_RUN), system: undefined };
  assert.throws(() => fromWireDescription(message, 'here:1'), { name: 'PlatformError', message: /system\.processor/ });
});
