import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PluginEvent } from '../../../src/evaluation/event.js';
import { fromWirePluginEvent, headOfDone, toWireEvent, toWireLogged } from '../../../src/evaluation/wire/event-wire.js';
import { FollowEvaluationResponse } from '../../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { Event } from '../../../src/generated/mlmodelscope/evaluation/v1/event.js';
import { sent } from '../../agent/support/sent.js';

function received(event: PluginEvent): PluginEvent {
  return fromWirePluginEvent(sent(Event, toWireEvent(event)));
}

describe('the progress of an evaluation', () => {
  const measuring = { kind: 'measuring', done: 3, total: 9, label: 'brick' } as const;

  it('arrives with its time left and its step, and without a time where none is known', () => {
    const full = { ...measuring, secondsLeft: 4.5, step: 'repeating' };
    assert.deepEqual(received(full), full);
    const arrived = received(measuring);
    assert.ok(arrived.kind === 'measuring' && arrived.secondsLeft === undefined);
  });
});

describe('an estimate', () => {
  const estimate = {
    kind: 'estimate',
    model: 'm',
    latencyMs: 1.5,
    lowMs: 1,
    highMs: 2,
    coverage: 1,
    system: 's',
  } as const;

  it('arrives with its percentiles, and without any where it has none', () => {
    const percentiles = [
      { percentage: 99.9, latencyMs: 3 },
      { percentage: 50, latencyMs: undefined, reason: 'too few runs' },
    ];
    assert.deepEqual(received({ ...estimate, percentiles }), { ...estimate, percentiles });
    assert.deepEqual(received(estimate), estimate);
  });
});

describe('the last event with its result', () => {
  for (const [resultJson, partial] of [
    ['"short"', false],
    [`"${'é\u{1f41f}'.repeat(100_000)}"`, true],
  ] as const) {
    it(`is a message of the contract, ${Buffer.byteLength(resultJson)} bytes long`, () => {
      const logged = { sequence: 300, at: '2026-11-23T10:00:00.123Z', event: { kind: 'done', partial } } as const;
      const result = Buffer.from(resultJson);
      const message = Buffer.concat([headOfDone(logged, result.length, 1), result]);
      const event = toWireLogged({ ...logged, event: { ...logged.event, resultJson } });
      assert.deepEqual(FollowEvaluationResponse.decode(message), { event });
    });
  }
});
