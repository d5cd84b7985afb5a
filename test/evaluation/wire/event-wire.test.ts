import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PluginEvent } from '../../../src/evaluation/event.js';
import { fromWirePluginEvent, toWireEvent } from '../../../src/evaluation/wire/event-wire.js';
import { Event } from '../../../src/generated/mlmodelscope/evaluation/v1/event.js';

function sent(event: PluginEvent): PluginEvent {
  return fromWirePluginEvent(Event.decode(Event.encode(toWireEvent(event)).finish()));
}

describe('the progress of an evaluation', () => {
  const measuring = { kind: 'measuring', done: 3, total: 9, label: 'brick' } as const;

  it('arrives with its time left, and without one where none is known', () => {
    assert.deepEqual(sent({ ...measuring, secondsLeft: 4.5 }), { ...measuring, secondsLeft: 4.5 });
    const arrived = sent(measuring);
    assert.ok(arrived.kind === 'measuring' && arrived.secondsLeft === undefined);
  });
});
