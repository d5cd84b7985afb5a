import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { subjectKey } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';
import { measuredBrick, measuredCall, measuredTogetherOn } from '../support/measured-bricks.js';

describe('observations', () => {
  test('are in the order of their occasions, in any order of input', () => {
    const [first, second, third] = measuredBrick(0, 1, 2, 3);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    const observations = groupObservations([third, measuredCall, first, second]);
    assert.deepEqual(observations.get(first.signature), [first, second, third]);
    assert.deepEqual(observations.get(measuredCall.signature), [measuredCall]);
  });

  test('of one benchmark are separated by their context, and from those without a context', () => {
    const alone = sampleMeasurement(0);
    const [small, large] = [2 ** 20, 2 ** 22].map((footprintBytes) => measuredTogetherOn(1, 0, 1, { footprintBytes }));
    const again = measuredTogetherOn(2, 0, 1, { footprintBytes: 2 ** 20 });
    assert.ok(small !== undefined && large !== undefined);
    const observations = groupObservations([again, large, alone, small]);
    assert.equal(observations.size, 3);
    const of = (footprintBytes?: number) => {
      const context = footprintBytes === undefined ? undefined : { footprintBytes };
      return observations.get(subjectKey(signatureOf(0), context));
    };
    assert.deepEqual([of(), of(2 ** 20), of(2 ** 22), of(2 ** 24)], [[alone], [small, again], [large], undefined]);
  });
});
