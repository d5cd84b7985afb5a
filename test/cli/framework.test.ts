import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadline } from './support/command.js';
import { CONV_LAYERS, convModel } from './support/conv-model.js';
import { assertOneMessage, findingsIn, planIn, reportIn } from './support/report.js';
import { AS_STORED, ONCE, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const WEB = ['--framework', 'onnxruntime-web'] as const;

describe('a second framework', { ...deadline, concurrency: 2 }, () => {
  it('estimates the same model at the kernel cut, as a system of its own', async (t) => {
    const place = await workplaceHere(t);
    await place.write('conv.onnx', convModel());
    const args = ['dlbricks', 'validate', 'conv.onnx', ...QUICK, ...ONCE, '--export-json', '-'];
    const web = await place.run([...args, ...WEB]);
    const native = await place.run(args);
    const again = await place.run([...args, ...WEB, ...AS_STORED]);
    assert.deepEqual([web.code, native.code, again.code], [0, 0, 0], web.stderr + native.stderr);

    const ofWeb = reportIn(web);
    const ofNative = reportIn(native);
    assert.deepEqual([ofWeb.system.framework, ofNative.system.framework], ['onnxruntime-web', 'onnxruntime']);
    assert.notEqual(ofWeb.system.fingerprint, ofNative.system.fingerprint);
    const [model] = ofWeb.models;
    assert.deepEqual([ofWeb.settings.cut, model?.layers, model?.coverage], ['kernel', CONV_LAYERS, 1]);
    assert((model?.estimate_ms ?? 0) > 0 && (model?.end_to_end_ms ?? 0) > 0);
    assert.equal(planIn(native).known, 0, 'measurements of another framework were taken for its own');
    assert.equal(planIn(again).toMeasure, 0, 'it did not find its own measurements');
    assert.deepEqual(findingsIn(again), findingsIn(web));
  });

  it('measures for others as an agent', async (t) => {
    const place = await workplaceHere(t);
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', ...WEB]);
    const [, address = ''] = await agent.said(/^agent listening on (127\.0\.0\.1:\d+)\n/);
    const { stdout } = await place.run(['registry', 'agents', '--agent', address, '--json']);
    const [described] = JSON.parse(stdout) as [{ framework: string }];
    assert.equal(described.framework, 'onnxruntime-web');
  });
});

describe('--framework', { ...deadline, concurrency: 2 }, () => {
  it('is refused beside --agent, which has its own', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['dlbricks', 'validate', 'zoo:alexnet', ...WEB, '--agent', '127.0.0.1:1']);
    assertOneMessage(ending);
    assert.match(ending.stderr, /other agents have their own; leave out --framework or --agent/);
    assert.equal(ending.code, 2);
  });

  it('lists the known frameworks where it is given an unknown one', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['agent', '--framework', 'torch']);
    assert.match(ending.stderr, /onnxruntime, onnxruntime-web/);
    assert.equal(ending.code, 2);
  });
});
