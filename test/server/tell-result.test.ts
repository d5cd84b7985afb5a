import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoggedEvent } from '../../src/evaluation/event.js';
import { fromWireLogged } from '../../src/evaluation/wire/event-wire.js';
import type { Event } from '../../src/generated/mlmodelscope/evaluation/v1/event.js';
import {
  FollowEvaluationResponse,
  GetEvaluationResponse,
} from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { tellInParts, wholeResult } from '../../src/server/tell-result.js';

const PART_BYTES = 128 * 1024;

const DONE: LoggedEvent = { sequence: 7, at: '2026-01-01T00:00:00.000Z', event: { kind: 'done', partial: true } };

const { signal } = new AbortController();

/** Opens a result, and counts how many are open. */
function opening(json: string | undefined) {
  const bytes = json === undefined ? undefined : Buffer.from(json);
  const signals: AbortSignal[] = [];
  let open = 0;
  const result = (given: AbortSignal) => {
    signals.push(given);
    open++;
    return Promise.resolve({ json: bytes, close: () => void open-- });
  };
  return { result, open: () => open, signals };
}

async function parts(json: string | undefined) {
  const { result, open, signals } = opening(json);
  const sent: Event[] = [];
  const send = (event: Event): Promise<void> => {
    assert.equal(open(), 0, 'no part is held while it is sent');
    sent.push(event);
    return Promise.resolve();
  };
  await tellInParts(DONE, result, send, signal);
  for (const given of signals) assert.equal(given, signal);
  const last = sent.pop();
  assert.deepEqual(last && fromWireLogged(last), DONE);
  return sent.map(({ sequence, event }) => {
    assert.equal(sequence, 6n, 'a client that comes back after a part gets the event again');
    return event?.$case === 'resultPart' ? event.value.json : assert.fail();
  });
}

describe('a result in parts', () => {
  it('comes before its event, in parts of 128 KiB', async () => {
    const json = JSON.stringify('x'.repeat(2 * PART_BYTES));
    const told = await parts(json);
    assert.equal(told.join(''), json);
    assert.deepEqual(
      told.map((part) => part.length),
      [PART_BYTES, PART_BYTES, 2],
    );
  });

  it('is divided between two characters', async () => {
    // From the second byte on, characters of 1 to 4 bytes, so that each place in a character is at the end of a part.
    for (const character of ['é', '漢', '😀']) {
      for (const before of ['', 'x', 'xx', 'xxx']) {
        const json = JSON.stringify(before + character.repeat(50_000));
        const told = await parts(json);
        assert.equal(told.join(''), json);
        assert.ok(told.every((part) => Buffer.byteLength(part) < PART_BYTES + 4));
      }
    }
  });

  it('has no part if the store lost it', async () => {
    assert.deepEqual(await parts(undefined), []);
  });
});

describe('a result in one answer', () => {
  const encoded = async (json: string | undefined, field: number, before?: Uint8Array<ArrayBuffer>) => {
    const { result, open, signals } = opening(json);
    const { head, body, close } = await wholeResult(DONE, result, field, before).open(signal);
    assert.deepEqual([open(), signals], [1, [signal]]);
    close();
    assert.equal(open(), 0);
    return Buffer.concat([head, body]);
  };
  const event = (resultJson: string): object => ({
    $case: 'done',
    value: { resultJson, partial: true, resultWithheld: false },
  });

  it('is a message of the contract, after the fields that come before', async () => {
    const response = FollowEvaluationResponse.decode(await encoded('{"answer":"é"}', 1));
    assert.deepEqual(response.event?.event, event('{"answer":"é"}'));
    assert.equal(response.event?.sequence, 7n);
    const evaluation = { id: 'an-id', name: 'tiny' };
    const before = GetEvaluationResponse.encode(GetEvaluationResponse.fromPartial({ evaluation })).finish();
    const got = GetEvaluationResponse.decode(await encoded('1', 2, before));
    assert.deepEqual([got.evaluation?.id, got.lastEvent?.event], ['an-id', event('1')]);
  });

  it('is empty if the store lost it', async () => {
    assert.deepEqual(FollowEvaluationResponse.decode(await encoded(undefined, 1)).event?.event, event(''));
  });
});
