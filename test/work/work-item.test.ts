import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANY_RUN, type RunOptions } from '../../src/measurement/system.js';
import * as wire from '../../src/generated/mlmodelscope/work/v1/work.js';
import { encodeItem, itemIn, type WorkItem } from '../../src/work/work-item.js';
import fc from '../support/property.js';
import { refusal } from '../rpc/support/refusal.js';
import { sampleRequests } from './sample-requests.js';

function itemOf(changes: Partial<WorkItem> = {}): WorkItem {
  return {
    requests: sampleRequests(3).map((request) => ({ request, replaces: undefined })),
    wantedBy: 'batch 1',
    store: 'store-1',
    traceContext: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    ...changes,
  };
}

describe('work items', () => {
  it('are decoded from their message unchanged', () => {
    const [request] = sampleRequests(1);
    assert.ok(request);
    const { benchmark, runOptions, protocol, occasion, limits } = request;
    const alone = { benchmark, runOptions, protocol, occasion, limits };
    const item = itemOf({
      requests: [
        ...sampleRequests(2).map((request) => ({ request, replaces: '2026-01-02T03:04:05.678Z' })),
        { request: alone, replaces: undefined },
      ],
    });
    assert.deepEqual(itemIn(encodeItem(item)), item);
    assert.equal(itemIn(encodeItem(itemOf({ wantedBy: undefined }))).wantedBy, undefined);
  });

  it('with settings that older agents ignore have a version that these refuse', () => {
    const versionOf = (runOptions: RunOptions): number => {
      const requests = sampleRequests(1, { runOptions }).map((request) => ({ request, replaces: undefined }));
      const body = encodeItem(itemOf({ requests }));
      assert.deepEqual(itemIn(body).requests[0]?.request.runOptions, runOptions);
      return wire.WorkItem.decode(body).version;
    };
    assert.equal(versionOf(ANY_RUN), 1);
    assert.equal(versionOf({ ...ANY_RUN, session: ['enableMemPattern=0'] }), 2);
  });

  it('never have the name of a model', () => {
    const requests = sampleRequests(1, { name: 'secret-model' }).map((request) => ({ request, replaces: undefined }));
    assert.equal(Buffer.from(encodeItem(itemOf({ requests }))).includes('secret-model'), false);
  });

  it('never have weights', () => {
    const [request] = sampleRequests(1);
    assert.ok(request);
    const benchmark = { ...request.benchmark, weights: '/home/me/model.onnx' };
    const item = itemOf({ requests: [{ request: { ...request, benchmark }, replaces: undefined }] });
    assert.throws(() => encodeItem(item), refusal('usage', /carries no weights/));
    const message = wire.WorkItem.decode(encodeItem(itemOf()));
    const asked = message.requests[1]?.benchmark;
    assert.ok(asked);
    asked.weights = '/etc/passwd';
    assert.throws(() => itemIn(wire.WorkItem.encode(message).finish()), refusal('usage', /requests\[1\].*weights/));
  });

  it('are refused with a reason if they are of another version, or empty', () => {
    const message = wire.WorkItem.decode(encodeItem(itemOf()));
    const of = (changes: Partial<wire.WorkItem>): Uint8Array =>
      wire.WorkItem.encode({ ...message, ...changes }).finish();
    assert.throws(() => itemIn(of({ version: 3 })), refusal('usage', /version 3.*understands version 2/));
    assert.throws(() => itemIn(of({ requests: [] })), refusal('usage', /asks for 0 measurements/));
    assert.throws(() => itemIn(new Uint8Array()), refusal('usage', /version 0/));
  });

  it('are refused with a reason if they are no work, for any bytes', () => {
    const noWork = refusal('usage', /.+/);
    assert.throws(() => itemIn(Buffer.from('{"measure": "this"}')), noWork);
    const body = encodeItem(itemOf());
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => assert.throws(() => itemIn(bytes), noWork)));
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.nat(255), (place, value) => {
        const changed = Uint8Array.from(body);
        changed[place] = value;
        try {
          itemIn(changed);
        } catch (thrown) {
          assert.ok(noWork(thrown));
        }
      }),
    );
  });
});
