import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { deadline, type Ending, type Workplace } from './support/command.js';
import { assertOneMessage, findingsIn, planIn, reportIn } from './support/report.js';
import { untilSomethingIsStored } from './support/stored.js';
import { AS_STORED, chain, FOUR_LAYERS, LAYER_CUT, MANY_OPERATORS, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** Port 1 has no listener on a machine like this. */
const NOBODY = '127.0.0.1:1';

/** An agent in a process of its own, on a free port. */
async function agentIn(place: Workplace) {
  const agent = place.start(['agent', '--listen', '127.0.0.1:0']);
  const [, address = ''] = await agent.said(/^agent listening on (127\.0\.0\.1:\d+)\n/);
  return { ...agent, address };
}

/** A command whose agent is in the middle of measuring for it. */
async function measuringThrough(t: TestContext) {
  const place = await workplaceHere(t);
  const agent = await agentIn(place);
  const model = await place.write('many.onnx', chain(MANY_OPERATORS));
  const args = ['dlbricks', 'validate', model, ...LAYER_CUT, '--runs', '1000', '--warmup', '1'];
  const command = place.start([...args, '--agent', agent.address]);
  await untilSomethingIsStored(place);
  return { place, agent, args, command };
}

function weightsIn(ending: Ending) {
  return findingsIn(ending).provenance.models?.map(({ weights }) => weights);
}

function withoutWeights(ending: Ending) {
  const { provenance, ...rest } = findingsIn(ending);
  return {
    ...rest,
    models: provenance.models?.map((model) => ({ ...model, weights: undefined })),
    results: rest.models,
  };
}

describe('an agent in another process', { ...deadline, concurrency: 2 }, () => {
  it('measures for a command that names it', async (t) => {
    const place = await workplaceHere(t);
    const { address } = await agentIn(place);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const args = ['dlbricks', 'validate', 'four.onnx', ...QUICK, '--export-json', '-'];
    const there = await place.run([...args, '--agent', address]);
    assert.equal(there.code, 0);
    assert.equal(reportIn(there).models[0]?.coverage, 1);
    // The agent runs on this machine, so its measurements count here.
    const here = await place.run([...args, ...AS_STORED]);
    assert.equal(planIn(here).toMeasure, 0);
    // Only a command that measures by itself reads the weights of the file.
    assert.deepEqual(weightsIn(there), ['made_up']);
    assert.deepEqual(weightsIn(here), ['own']);
    assert.deepEqual(withoutWeights(here), withoutWeights(there));
  });

  it('describes itself', async (t) => {
    const place = await workplaceHere(t);
    const { address } = await agentIn(place);
    const { stdout } = await place.run(['registry', 'agents', '--agent', address, '--json']);
    const [agent] = JSON.parse(stdout) as [{ address: string; framework: string }];
    assert.deepEqual([agent.address, agent.framework], [address, 'onnxruntime']);
  });

  it('ends when it is asked to', async (t) => {
    const agent = await agentIn(await workplaceHere(t));
    agent.process.kill('SIGINT');
    const { stderr, code } = await agent.ended;
    assert.deepEqual({ stderr, code }, { stderr: '', code: 0 });
  });

  for (const [name, signal] of [
    ['is killed', 'SIGKILL'],
    ['is stopped', 'SIGTERM'],
  ] as const) {
    it(`that ${name} in the middle ends the command with an error, and the measurements are kept`, async (t) => {
      const { place, agent, args, command } = await measuringThrough(t);
      agent.process.kill(signal);
      const ending = await command.ended;
      assertOneMessage(ending);
      assert.match(ending.stderr, /the agent (at \S+ does not answer|is shutting down)/);
      assert.equal(ending.code, 1);
      await place.start(args).said(/ [1-9]\d* known already/);
    });
  }
});

describe('an address without an agent', { ...deadline, concurrency: 2 }, () => {
  it('is noticed before a model is built', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['dlbricks', 'validate', 'zoo:alexnet', '--agent', NOBODY]);
    assertOneMessage(ending);
    assert.match(
      ending.stderr,
      /^the agent at 127\.0\.0\.1:1 does not answer \(.*ECONNREFUSED.*\); check the address, or start an agent there/,
    );
    assert.equal(ending.code, 1);
    assert.equal(existsSync(place.path('cache', 'zoo')), false);
  });

  it('is named in the error where its name cannot be resolved', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['registry', 'agents', '--agent', 'no-host.invalid:7070']);
    assertOneMessage(ending);
    assert.match(ending.stderr, /^the agent at no-host\.invalid:7070 does not answer/);
    assert.equal(ending.code, 1);
  });
});

describe('a web proxy in the environment', deadline, () => {
  it('is not used', async (t) => {
    const place = await workplaceHere(t);
    const proxy = `http://${NOBODY}`;
    const env = { http_proxy: proxy, https_proxy: proxy, grpc_proxy: proxy, no_proxy: undefined, NO_PROXY: undefined };
    assert.equal((await place.run(['registry', 'agents'], { env })).code, 0);
  });
});
