import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { compose, type Estimate } from '../../../../plugins/dlbricks/estimate/compose.js';
import {
  type RecipeInContext,
  failureText,
  type Observations,
  groupObservations,
} from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import type { Outcome } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';
import { near } from '../../../support/near.js';

interface Graph {
  /** For each sequence the number of its brick. */
  readonly sequences: readonly number[];
  readonly edges: readonly (readonly [number, number])[];
}

function recipeOf({ sequences, edges }: Graph): RecipeInContext {
  const bricks = Array.from({ length: Math.max(-1, ...sequences) + 1 }, (_, index) => {
    return { signature: signatureOf(index), operators: [`Op${index}`] };
  });
  const layers = sequences.length;
  const recipe = { name: 'model', layers, bricks, sequences: [...sequences] };
  return { recipe: { ...recipe, edges: edges.map(([from, to]) => [from, to]) }, context: undefined };
}

/** Measurements of bricks 0, 1, ...: their latency in ms in every run, or how they failed; undefined for none. */
function measured(...results: readonly (number | Extract<Outcome, { kind: 'failure' }> | undefined)[]): Observations {
  const measurements = results.flatMap((result, index) => {
    if (result === undefined) return [];
    const outcome: Outcome =
      typeof result === 'number'
        ? { kind: 'samples', runMs: Array.from({ length: 5 }, () => result), warmupMs: [] }
        : result;
    return [sampleMeasurement(index, { outcome })];
  });
  return groupObservations(measurements);
}

const chain: Graph = {
  sequences: [0, 1, 0, 2],
  edges: [
    [0, 1],
    [1, 2],
    [2, 3],
  ],
};

/** One sequence, then a long and a short branch, then one sequence where they meet. */
const diamond: Graph = {
  sequences: [0, 1, 2, 1, 0],
  edges: [
    [0, 1],
    [0, 2],
    [1, 3],
    [2, 4],
    [3, 4],
  ],
};

/** Recipes of up to 8 sequences with the latency of each brick. */
const measuredGraphs = fc.integer({ min: 1, max: 8 }).chain((count) => {
  const pairs = Array.from({ length: count }, (_, to) => Array.from({ length: to }, (__, from) => [from, to] as const));
  return fc.record({
    sequences: fc.array(fc.nat({ max: 3 }), { minLength: count, maxLength: count }),
    edges: fc.subarray(pairs.flat()),
    latencies: fc.array(fc.double({ min: 0.001, max: 100, noNaN: true }), { minLength: 4, maxLength: 4 }),
  });
});

/** The heaviest of all paths, found by trying every path. */
function heaviestPath({ sequences, edges }: Graph, latencies: readonly number[]): number {
  const from = (sequence: number): number => {
    const rest = edges.filter(([source]) => source === sequence).map(([, target]) => from(target));
    return (latencies[sequences[sequence] ?? -1] ?? 0) + Math.max(0, ...rest);
  };
  return Math.max(...sequences.map((_, sequence) => from(sequence)));
}

describe('composing', () => {
  test('sums up all sequences, and counts them', () => {
    const estimate = compose(recipeOf(chain), measured(1, 10, 100));

    near(estimate.sequential?.ms, 112);
    const { name, layers, sequences, uniqueBricks, coverage, missing } = estimate;
    assert.deepEqual(
      { name, layers, sequences, uniqueBricks, coverage, missing },
      { name: 'model', layers: 4, sequences: 4, uniqueBricks: 3, coverage: 1, missing: [] },
    );
  });

  test('a chain takes as long in parallel', () => {
    const { sequential, parallel } = compose(recipeOf(chain), measured(1, 10, 100));
    assert.deepEqual(parallel, sequential);
  });

  test('the longer of two branches counts for the longest path', () => {
    near(compose(recipeOf(diamond), measured(1, 10, 15)).parallel?.ms, 1 + 10 + 10 + 1);
    near(compose(recipeOf(diamond), measured(1, 10, 25)).parallel?.ms, 1 + 25 + 1);
  });

  test('the longest path is given by its sequences, in their order', () => {
    assert.deepEqual(compose(recipeOf(diamond), measured(1, 10, 15)).longestPath, [0, 1, 3, 4]);
    assert.deepEqual(compose(recipeOf(diamond), measured(1, 10, 25)).longestPath, [0, 2, 4]);
    assert.deepEqual(compose(recipeOf({ sequences: [], edges: [] }), measured()).longestPath, []);
  });

  test('the edges between the sequences are those of the recipe', () => {
    assert.deepEqual(compose(recipeOf(diamond), measured(1, 10, 15)).edges, diamond.edges);
  });

  test('sequences without edges: the slowest one is the longest path', () => {
    near(compose(recipeOf({ sequences: [0, 1, 2, 1], edges: [] }), measured(1, 30, 2)).parallel?.ms, 30);
  });

  test('the longest path is the heaviest of all paths, never more than the sum', () => {
    fc.assert(
      fc.property(measuredGraphs, ({ latencies, ...graph }) => {
        const { sequential, parallel } = compose(recipeOf(graph), measured(...latencies));
        near(parallel?.ms, heaviestPath(graph, latencies));
        near(
          sequential?.ms,
          graph.sequences.reduce((sum, brick) => sum + (latencies[brick] ?? NaN), 0),
        );
        assert.ok((parallel?.ms ?? NaN) <= (sequential?.ms ?? NaN) * (1 + 1e-12));
      }),
    );
  });

  test('each interval contains only the uncertainty of its own bricks', () => {
    const noisy = sampleMeasurement(1, { outcome: { kind: 'samples', runMs: [9, 10, 11, 9.5, 10.5], warmupMs: [] } });
    const measurements = new Map([...measured(1, 0, 50), [noisy.signature, [noisy]]]);
    const { sequential, parallel } = compose(recipeOf(diamond), measurements);

    // The noisy brick is twice in the sum, and not on the path.
    near(parallel?.ms, 52);
    near(parallel?.highMs, 52);
    near(sequential?.ms, 72);
    assert.ok((sequential?.highMs ?? NaN) > 73 && (sequential?.lowMs ?? NaN) < 71);
  });
});

describe('bricks without a latency', () => {
  const timedOut = { kind: 'failure', reason: 'timeout', message: 'no end after 120 s' } as const;
  const missingOf = ({ missing }: Estimate) =>
    missing.map(({ operators, count, reason }) => [...operators, count, reason]);

  test('are listed with their reason and their count, and lower the coverage', () => {
    const estimate = compose(recipeOf(diamond), measured(1, timedOut, undefined));

    assert.equal(estimate.coverage, 2 / 5);
    assert.deepEqual(missingOf(estimate), [
      ['Op1', 2, failureText(timedOut)],
      ['Op2', 1, 'not measured on this system'],
    ]);
    assert.deepEqual(estimate.missing[0]?.signature, signatureOf(1));
  });

  test('have no other effect: the estimate is that of the measured part', () => {
    const { sequential, parallel } = compose(recipeOf(diamond), measured(1, timedOut, 20));
    near(sequential?.ms, 22);
    near(parallel?.ms, 22);
  });

  test('without any measurement there is no estimate', () => {
    const { sequential, parallel, coverage } = compose(recipeOf(diamond), measured());
    assert.deepEqual({ sequential, parallel, coverage }, { sequential: undefined, parallel: undefined, coverage: 0 });
  });

  test('coverage and missing always make up the whole', () => {
    const results = fc.array(fc.constantFrom(1, timedOut, undefined), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(measuredGraphs, results, (graph, outcomes) => {
        const { coverage, missing } = compose(recipeOf(graph), measured(...outcomes));
        const missed = missing.reduce((sum, { count }) => sum + count, 0);
        near(coverage * graph.sequences.length + missed, graph.sequences.length);
      }),
    );
  });
});
