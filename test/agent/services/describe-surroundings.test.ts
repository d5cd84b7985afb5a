import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeAgent } from '../../../src/agent/services/describe-machine.js';
import { containerIn, describeSurroundings } from '../../../src/agent/services/describe-surroundings.js';
import { fromWireDescription, toWireDescription } from '../../../src/agent/wire/description-wire.js';
import { DescribeSystemResponse } from '../../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { ANY_RUN, identifySystem } from '../../../src/measurement/system.js';
import { sent } from '../support/sent.js';

const none = (): undefined => undefined;

describe('what an agent runs in', () => {
  test('is told with the variables that change timings, and no others', () => {
    const found = describeSurroundings(none, { OMP_NUM_THREADS: '1', SECRET: 'x', OMP_PLACES: '' });
    assert.deepEqual(found.environment, { OMP_NUM_THREADS: '1' });
    assert.equal(found.node, process.versions.node);
    assert.equal(found.container, null);
  });

  test('names the container by its signs', () => {
    const at = (path: string, text: string) => (asked: string) => (asked === path ? text : undefined);
    assert.equal(
      containerIn(at('/run/.containerenv', 'engine="podman"\nimage="registry/x:1"\n'), {}),
      'podman registry/x:1',
    );
    assert.equal(
      containerIn(at('/run/.containerenv', 'engine="podman"\nimage="x:1"\nimageid="0ab1"\n'), {}),
      'podman x:1 sha256:0ab1',
    );
    assert.equal(containerIn(at('/run/.containerenv', ''), {}), 'podman');
    assert.equal(containerIn(at('/.dockerenv', ''), {}), 'docker');
    assert.equal(containerIn(none, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }), 'kubernetes');
  });

  test('is the same after the wire, and in no fingerprint', () => {
    const description = describeAgent('onnxruntime');
    const arrived = sent(DescribeSystemResponse, toWireDescription(description, ANY_RUN));
    assert.deepEqual(fromWireDescription(arrived, 'here').surroundings, description.surroundings);
    const earlier = { ...description, surroundings: undefined };
    assert.equal(identifySystem(description, ANY_RUN).fingerprint, identifySystem(earlier, ANY_RUN).fingerprint);
  });

  test('is absent where an agent of an earlier version says nothing, and without variables that are not known', () => {
    const message = toWireDescription(describeAgent('onnxruntime'), ANY_RUN);
    assert.equal(fromWireDescription({ ...message, surroundings: undefined }, 'here').surroundings, undefined);
    const surroundings = { node: '', libc: '', kernel: '', container: '', decoder: '', environment: { SECRET: 'x' } };
    assert.deepEqual(fromWireDescription({ ...message, surroundings }, 'here').surroundings, {
      node: null,
      libc: null,
      kernel: null,
      container: null,
      environment: {},
    });
  });
});
