import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeKey, parseSide } from '../../../../plugins/dlbricks/compare/side.js';

test('a side has an agent or a runtime, threads and settings', () => {
  const { threads, settings } = parseSide('threads=2, optimization_level=basic,session.disable_prepacking=1');
  assert.equal(threads, 2);
  assert.equal(settings.optimization_level, 'basic');
  assert.deepEqual(settings.session, { 'session.disable_prepacking': '1' });
  assert.equal(parseSide('agent=host:7070').agent, 'host:7070');
  assert.equal(placeKey(parseSide('default')), placeKey(parseSide('threads=3')));
  assert.notEqual(placeKey(parseSide('default')), placeKey(parseSide('framework=onnxruntime-web')));
});

test('another text is refused with its place and what is expected', () => {
  const refusals = [
    ['thread=2', /^side thread=2: expected default, onnxruntime-node@VERSION, or KEY=VALUE/],
    ['threads=2,thread=2', /^side threads=2,thread=2: thread=2: expected default/],
    ['threads=none', /^side threads=none: threads: expected a whole number/],
    ['optimization_level=most', /optimization_level/],
    ['framework=torch', /framework: expected onnxruntime or onnxruntime-web$/],
    ['session.disable_prepacking=2', /expected 0 or 1/],
    ['agent=host:1,framework=onnxruntime', /an agent has its own framework/],
    ['', /expected default/],
    ['threads=1,threads=2', /^side threads=1,threads=2: threads is there twice; leave one of the two out$/],
    ['agent=a:1,agent=b:1', /agent is there twice/],
  ] as const;
  for (const [text, message] of refusals) assert.throws(() => parseSide(text), { code: 'usage', message }, text);
});
