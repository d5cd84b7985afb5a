import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoggedEvent, PlatformEvent } from '../../src/evaluation/event.js';
import { measurementKey } from '../../src/measurement/measurement.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { measurementId } from '../../src/store/measurement-id.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { assertEndsOnce, assertTold } from '../../torture/checks/ends-once.js';
import { assertKept, StoreReader } from '../../torture/checks/store.js';
import { sampleMeasurement } from '../store/sample-measurement.js';
import { temporaryFolder } from '../store/temporary-folder.js';
import { until } from '../support/until.js';

const started: PlatformEvent = { kind: 'started', plugin: 'p', pluginVersion: '1.0.0', agent: 'a:1', attempt: 1 };
const estimate: PlatformEvent = { kind: 'estimate', model: 'm', latencyMs: 1, coverage: 1 };
const done: PlatformEvent = { kind: 'done', partial: false };
const measuring: PlatformEvent = { kind: 'measuring', done: 1, total: 2, label: '' };

function story(...events: readonly PlatformEvent[]): readonly LoggedEvent[] {
  let sequence = 0;
  return events.map((event) => {
    if (event.kind !== 'measuring') sequence++;
    return { sequence, at: '2026-01-01T00:00:00.000Z', event };
  });
}

function idOf(index: number): string {
  return measurementId(measurementKey(sampleMeasurement(index))) ?? '';
}

describe('the check of an evaluation', () => {
  it('accepts an evaluation that is done once', () => {
    assertEndsOnce(story(started, measuring, estimate, done));
  });

  const wrong: readonly (readonly [string, readonly LoggedEvent[], RegExp])[] = [
    ['no end', story(started, estimate), /0 final events/],
    ['two ends', story(started, estimate, done, done), /2 final events/],
    ['a lost event', story(started, estimate, done).toSpliced(1, 1), /an event is missing/],
    ['a failure', story(started, { kind: 'failed', code: 'internal', message: 'lost' }), /failed: lost/],
    ['a partial end', story(started, estimate, { kind: 'done', partial: true }), /is not done/],
    ['a partial estimate', story(started, { ...estimate, coverage: 0.5 }, done), /not everything was measured/],
  ];
  for (const [what, events, problem] of wrong) {
    it(`finds ${what}`, () => assert.throws(() => assertEndsOnce(events), problem));
  }

  it('finds that a follower received other events', () => {
    const told = story(started, measuring, estimate, done);
    assertTold(told, story(started, estimate, done));
    assertTold(story(started, { ...estimate, lowMs: undefined }, done), story(started, estimate, done));
    assert.throws(() => assertTold(told, story(started, estimate)), /received 3 events of 2/);
    assert.throws(() => assertTold(told, story(started, { ...estimate, latencyMs: 2 }, done)), /instead of/);
  });
});

describe('the check of a store', { timeout: 60_000 }, () => {
  it('finds measurements that are lost', async () => {
    const store = await openMemoryStore();
    await store.putMeasurement(sampleMeasurement(1));
    await assert.rejects(
      assertKept(() => Promise.resolve(store), new Set([idOf(1), idOf(2)])),
      /1 of 2 measurements/,
    );
  });

  it('sees measurements that others store, also if the store does not exist at first', async (t) => {
    const folder = await temporaryFolder(t);
    const reader = new StoreReader(folder);
    const store = await openEmbeddedStore(folder, {});
    t.after(() => store.close());
    await store.putMeasurement(sampleMeasurement(1));
    await until(() => reader.seen.has(idOf(1)));
    await store.putMeasurement(sampleMeasurement(2));
    await until(() => reader.seen.has(idOf(2)));
    await reader.stop();
    await assertKept(openEmbeddedStore.bind(undefined, folder), reader.seen);
  });
});
