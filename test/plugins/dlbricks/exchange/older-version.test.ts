import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { computeContext } from '../../../../plugins/dlbricks/bricks/needs.js';
import { readRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { readResults } from '../../../../plugins/dlbricks/exchange/results-file.js';
import { readSuite } from '../../../../plugins/dlbricks/exchange/suite.js';
import { measureSuite } from '../../../../plugins/dlbricks/measure/measure-suite.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { LIMITS, PROTOCOL, SYSTEM } from '../../../store/sample-measurement.js';
import { spreadsOf } from '../support/spreads.js';

// See the README.md there.
const FIXTURES = join(import.meta.dirname, '../../../../../test/fixtures-of-0.1');

/** Medians in results.json: the trimmed mean of three runs is their median. */
const CALL_MS = 0.047018;
const BASELINE_MS = 0.16533;
const COPIES_MS = [4.214175, 4.240802];
const COPIES = 8;

describe('files of version 0.1', () => {
  test('recipe and results compose to the expected estimate', async () => {
    const measurements = await readResults(join(FIXTURES, 'results.json'));
    const [{ system } = assert.fail()] = measurements;
    const [recipe = assert.fail()] = (await readRecipe(join(FIXTURES, 'recipe.json'))).models;
    const model = { recipe, context: computeContext(recipe, system) };
    const observations = groupObservations(measurements);
    const { coverage, sequential, parts, missing } = compose(model, observations, spreadsOf([model], observations));
    assert.deepEqual([coverage, missing], [1, []]);
    assert.deepEqual(parts[0]?.measured, { way: 'copies', copies: COPIES });
    const [first = NaN, second = NaN] = COPIES_MS.map((ms) => (ms - BASELINE_MS) / COPIES);
    const expectedMs = (first + second) / 2 + CALL_MS;
    assert.ok(Math.abs((sequential?.ms ?? NaN) - expectedMs) < 1e-9, `${sequential?.ms} is not ${expectedMs}`);
    assert.ok((sequential?.lowMs ?? NaN) < expectedMs && expectedMs < (sequential?.highMs ?? NaN));
  });

  test('a suite is measured as it was then: the same benchmarks on the same occasions', async () => {
    const suite = await readSuite(join(FIXTURES, 'suite'));
    const { measurements } = await measureSuite(
      suite,
      { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS },
      {
        agent: createFakeAgent({ latencyOf: () => 1 }),
        store: await openMemoryStore(),
        signal: new AbortController().signal,
        onEvent: () => undefined,
      },
    );
    const asked = (taken: Readonly<typeof measurements>): readonly string[] =>
      taken.map(({ signature, occasion }) => `${signature} on ${occasion}`).sort();
    assert.deepEqual(asked(measurements), asked(await readResults(join(FIXTURES, 'results.json'))));
  });
});
