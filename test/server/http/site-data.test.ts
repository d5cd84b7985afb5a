import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { keepEstimates } from '../../../src/measuring/estimates.js';
import { selected, SharedEstimates } from '../../../src/server/http/site-data.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { SYSTEM } from '../../store/sample-measurement.js';
import { newEstimate } from '../site-server.js';

describe('the estimates of a store, as visitors see them', () => {
  it('are read once for all visitors of two seconds, and then anew', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const store = await openMemoryStore();
    await keepEstimates(store, SYSTEM, [newEstimate()]);
    const shared = new SharedEstimates(store);
    const [one, other] = await Promise.all([shared.get(), shared.get()]);
    assert.equal(one, other);
    assert.deepEqual([one.estimates.length, [...one.systems.values()]], [1, [SYSTEM]]);
    await keepEstimates(store, SYSTEM, [newEstimate({ model: 'squeezenet' })]);
    t.mock.timers.tick(1999);
    assert.equal(await shared.get(), one);
    t.mock.timers.tick(1);
    assert.equal((await shared.get()).estimates.length, 2);
  });

  it('are read again after a failure', async (t) => {
    const store = await openMemoryStore();
    const away = t.mock.method(store, 'collection', () => {
      throw new PlatformError('storage', 'the database is away');
    });
    const shared = new SharedEstimates(store);
    await assertRefused(shared.get(), 'storage');
    away.mock.restore();
    assert.deepEqual((await shared.get()).estimates, []);
  });

  it('are selected by all parts of a query, of which an empty one selects nothing', async () => {
    const store = await openMemoryStore();
    await keepEstimates(store, SYSTEM, [
      newEstimate({ model: 'ResNet18', dimensions: 'seq=128' }),
      newEstimate({ model: 'ResNet18', batch: 4, settings: 'threads=7' }),
      newEstimate({ model: 'squeezenet', plugin: 'latency' }),
    ]);
    const view = await new SharedEstimates(store).get();
    const found = (query: Parameters<typeof selected>[1]) =>
      selected(view, query)
        .estimates.map(({ model, batch }) => `${model} ${batch}`)
        .toSorted();
    const all = ['ResNet18 1', 'ResNet18 4', 'squeezenet 1'];
    for (const query of [{}, { q: '' }, { q: '  ', system: '', plugin: '', batch: '' }])
      assert.deepEqual(found(query), all);
    for (const [query, expected] of [
      [{ model: 'ResNet18' }, all.slice(0, 2)],
      [{ model: '' }, []],
      [{ batch: '4' }, ['ResNet18 4']],
      [{ plugin: 'latency' }, ['squeezenet 1']],
      [{ system: SYSTEM.fingerprint }, all],
      [{ system: 'other' }, []],
      [{ q: 'RESNET seq=128' }, ['ResNet18 1']],
      [{ q: 'threads=7' }, ['ResNet18 4']],
      [{ q: 'LATENCY' }, ['squeezenet 1']],
      [{ q: 'test cpu' }, all],
      [{ q: 'resnet latency' }, []],
      [{ q: 'resnet', batch: '1' }, ['ResNet18 1']],
    ] as const)
      assert.deepEqual(found(query), expected, JSON.stringify(query));
    assert.equal(selected(view, {}).systems, view.systems);
  });
});
