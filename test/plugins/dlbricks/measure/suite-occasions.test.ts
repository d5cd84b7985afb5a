import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { endsOf, prepareModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { measureSuite } from '../../../../plugins/dlbricks/measure/measure-suite.js';
import { observationsOf, spreadBetweenOccasions } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { readResults, resultsText } from '../../../../plugins/dlbricks/exchange/results-file.js';
import { readSuite, writeSuite } from '../../../../plugins/dlbricks/exchange/suite.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { PROTOCOL } from '../../../store/sample-measurement.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { loadedChain } from '../support/chain-model.js';
import { CALL_MS, driftingAgent } from '../support/drifting-agent.js';

const RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
const SETTINGS = { cut: 'kernel', granularity: 1, runOptions: RUN_OPTIONS } as const;

/** Runs with nobody watching. */
const unwatched = { signal: new AbortController().signal, onEvent: () => undefined };

const loaded = loadedChain('model', 'Relu', 'Neg', 'Relu', 'Abs');
const prepared = await prepareModel(loaded, SETTINGS, driftingAgent(), unwatched.signal);
const suite = { cut: 'kernel', granularity: 1, bricks: prepared.bricks, calls: [endsOf(loaded.model)] } as const;
/** The copies of Relu, Neg and Abs. */
const BRICKS = prepared.bricks.map(({ context }) => context?.benchmark.signature ?? '').sort();

describe('a suite of bricks in context', () => {
  test('is measured on two occasions, the second after everything else', async () => {
    const agent = driftingAgent(0.98, 1.02);
    const context = { agent, store: await openMemoryStore(), ...unwatched };
    const { measured, measurements, interrupted } = await measureSuite(suite, RUN_OPTIONS, PROTOCOL, context);
    assert.deepEqual([measured, interrupted], [agent.asked.length, false]);
    assert.deepEqual(
      agent.asked.map(({ occasion }) => occasion),
      [...agent.asked.slice(0, -BRICKS.length).map(() => 1), ...BRICKS.map(() => 2)],
    );
    const again = agent.asked.slice(-BRICKS.length).map(({ signature }) => signature);
    assert.deepEqual(again.sort(), BRICKS);
    assert.equal(measurements.length, measured);
  });

  test('composes to an interval at home, from a file', async (t) => {
    const folder = await temporaryFolder(t);
    const { recipe } = prepared;
    const header = { format: 'dlbricks-recipe/1', cut: 'kernel', granularity: 1, batch: 1 } as const;
    await writeSuite(folder, suite, { ...header, models: [recipe] });
    const given = await readSuite(join(folder, 'suite'));
    const context = { agent: driftingAgent(0.98, 1.02), store: await openMemoryStore(), ...unwatched };
    const { measurements } = await measureSuite(given, RUN_OPTIONS, PROTOCOL, context);
    const path = join(folder, 'results.json');
    await writeFile(path, resultsText(measurements));

    const read = await readResults(path);
    assert.deepEqual(read, measurements);
    const observations = observationsOf(read);
    const spread = spreadBetweenOccasions([recipe], observations);
    const { sequential, coverage, measuringError } = compose(recipe, observations, spread);
    assert.ok(Math.abs((spread?.relative ?? NaN) - Math.SQRT2 * 0.02) < 1e-9, `${spread?.relative}`);
    assert.equal(coverage, 1);
    const wholeMs = 1 + 2 + 1 + 4 + CALL_MS;
    assert.ok(Math.abs((sequential?.ms ?? NaN) - wholeMs) < 1e-9, `${sequential?.ms}`);
    assert.ok((sequential?.lowMs ?? NaN) < wholeMs && wholeMs < (sequential?.highMs ?? NaN));
    assert.ok((measuringError ?? NaN) > 0);
  });

  test('that is interrupted between the occasions goes on with the second', async () => {
    const store = await openMemoryStore();
    const controller = new AbortController();
    const agent = driftingAgent(0.98, 1.02);
    const onEvent = (): void => {
      if (agent.asked.some(({ occasion }) => occasion === 2)) controller.abort();
    };
    const stopped = await measureSuite(suite, RUN_OPTIONS, PROTOCOL, {
      agent,
      store,
      signal: controller.signal,
      onEvent,
    });
    assert.equal(stopped.interrupted, true);
    assert.equal(agent.asked.filter(({ occasion }) => occasion === 2).length, 1);

    const rest = driftingAgent(0.98, 1.02);
    const { measured, interrupted } = await measureSuite(suite, RUN_OPTIONS, PROTOCOL, {
      agent: rest,
      store,
      ...unwatched,
    });
    assert.deepEqual([measured, interrupted], [BRICKS.length - 1, false]);
    assert.ok(rest.asked.every(({ occasion }) => occasion === 2));
  });
});
