import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  brickNeeds,
  callNeeds,
  computeContext,
  modelNeeds,
  type Need,
} from '../../../../plugins/dlbricks/bricks/needs.js';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { subjectKey } from '../../../../src/measurement/measurement.js';
import type { Protocol } from '../../../../src/measurement/protocol.js';
import { PROTOCOL, sampleMeasurement, sampleSystem, signatureOf, SYSTEM } from '../../../store/sample-measurement.js';
import { copiesSignature, FOOTPRINT_BYTES, recipeOf, recipeTogether, surrounded } from '../support/measured-bricks.js';

const MIB = 2 ** 20;

const handed = { leaving: signatureOf(50), staying: signatureOf(51) };

describe('the context of bricks that are measured together', () => {
  const footprintOn = (mebibytes: number, cacheBytes = SYSTEM.cacheBytes): number | undefined => {
    const recipe = recipeTogether([1], { footprintBytes: mebibytes * MIB });
    return computeContext(recipe, sampleSystem({ cacheBytes }))?.footprintBytes;
  };

  test('is one of a few sizes, so that models of similar size share measurements', () => {
    assert.deepEqual(
      [0.5, 1, 1.41].map((size) => footprintOn(size)),
      [MIB, MIB, MIB],
    );
    assert.deepEqual(
      [1.42, 4, 5.6].map((size) => footprintOn(size)),
      [4 * MIB, 4 * MIB, 4 * MIB],
    );
  });

  test('is the same for all models that are larger than the cache', () => {
    // The system's cache has 32 MiB; 48 MiB are 1.5 times that. Composites touch four times that.
    assert.deepEqual(
      [48, 100, 10_000].map((size) => footprintOn(size)),
      [128 * MIB, 128 * MIB, 128 * MIB],
    );
  });

  test('differs on a machine with another cache', () => {
    assert.deepEqual([footprintOn(100, 8 * MIB), footprintOn(100, 64 * MIB)], [32 * MIB, 256 * MIB]);
  });

  test('is undefined if a recipe has no footprint', () => {
    assert.equal(computeContext(recipeOf([1]), SYSTEM), undefined);
  });
});

describe('the measurements that a brick needs', () => {
  const [alone = assert.fail()] = recipeTogether([1]).bricks;
  const needsAsCopies = (copies: number, protocol: Protocol = PROTOCOL) => {
    const [brick = assert.fail()] = recipeOf([1], { copies }).bricks;
    return brickNeeds(brick, undefined, protocol);
  };

  test('are the brick itself with the evaluation’s protocol if it runs alone', () => {
    assert.deepEqual(brickNeeds(alone, undefined, PROTOCOL), {
      benchmark: { signature: alone.signature, protocol: PROTOCOL },
      baseline: undefined,
    });
  });

  test('are the brick itself in its context, already optimized, if it runs together with others', () => {
    const context = { footprintBytes: 4 * MIB };
    assert.deepEqual(brickNeeds(alone, context, PROTOCOL), {
      benchmark: { signature: alone.signature, protocol: PROTOCOL, context, isOptimized: true },
      baseline: undefined,
    });
  });

  test('are the graph of its copies and the call that is subtracted, both already optimized', () => {
    const { benchmark, baseline } = needsAsCopies(4);
    assert.deepEqual([benchmark.signature, benchmark.isOptimized], [copiesSignature(0), true]);
    const call = recipeOf([1]).call ?? assert.fail();
    assert.deepEqual(baseline, { signature: call, protocol: PROTOCOL, isOptimized: true });
  });

  test('have a quarter of the model’s runs over all copies, but at least three, and never more than a model', () => {
    const runs = (copies: number, protocol?: Protocol): number =>
      needsAsCopies(copies, protocol).benchmark.protocol.runs;
    // Of 50 runs.
    assert.deepEqual(
      [1, 2, 4, 48].map((copies) => runs(copies)),
      [13, 7, 4, 3],
    );
    assert.equal(runs(1, { ...PROTOCOL, runs: 2 }), 2);
  });

  test('have for copies at most one warm-up run, and a minimum of runs that is at most the runs', () => {
    const { warmupRuns, minRuns, runs } = needsAsCopies(48, { ...PROTOCOL, minRuns: 10 }).benchmark.protocol;
    assert.deepEqual([warmupRuns, minRuns, runs], [1, 3, 3]);
    assert.equal(needsAsCopies(48, { ...PROTOCOL, warmupRuns: 0 }).benchmark.protocol.warmupRuns, 0);
  });
});

describe('the measurements that a model needs', () => {
  const ways: Readonly<Record<string, ModelRecipe>> = {
    'whose bricks run alone': { ...recipeTogether([2, 1]), footprint_bytes: undefined, call: undefined },
    'whose bricks run as copies': recipeOf([2, 1]),
    'whose bricks run together': recipeTogether([2, 1]),
    'whose outputs are handed over': { ...recipeTogether([2, 1]), handing_over: handed },
  };
  const needKey = ({ signature, context }: Need): string => subjectKey(signature, context);
  const composedOf = (recipe: ModelRecipe, needs: readonly Need[]) => {
    const measurements = needs.map(({ signature, protocol, context }) => {
      return sampleMeasurement(0, { signature, protocol, ...(context && { context }) });
    });
    return compose(surrounded(recipe), groupObservations(measurements));
  };

  for (const [what, recipe] of Object.entries(ways)) {
    test(`${what} are all that its estimate is made of, and none of them can be left out`, () => {
      const needs = modelNeeds(recipe, SYSTEM, PROTOCOL);
      const { coverage, missing } = composedOf(recipe, needs);
      assert.deepEqual([coverage, missing], [1, []]);
      for (const need of needs) {
        const rest = needs.filter((other) => needKey(other) !== needKey(need));
        assert.ok(composedOf(recipe, rest).missing.length > 0, needKey(need));
      }
    });
  }

  test('include the empty call and both calls of handing over, if the model has them', () => {
    const { call } = recipeTogether([]);
    const signaturesOf = (recipe: ModelRecipe) => callNeeds(recipe, PROTOCOL).map(({ signature }) => signature);
    assert.deepEqual(signaturesOf({ ...recipeTogether([1]), handing_over: handed }), [
      call,
      handed.leaving,
      handed.staying,
    ]);
    assert.deepEqual(signaturesOf({ ...recipeTogether([1]), call: undefined }), []);
  });

  test('differ for a brick in models of two sizes', () => {
    const sizes = [FOOTPRINT_BYTES, 4 * FOOTPRINT_BYTES];
    const keys = sizes.flatMap((footprintBytes) => {
      const recipe = { ...recipeTogether([1], { footprintBytes }), call: undefined };
      return modelNeeds(recipe, SYSTEM, PROTOCOL).map(needKey);
    });
    assert.equal(new Set(keys).size, 2);
  });
});
