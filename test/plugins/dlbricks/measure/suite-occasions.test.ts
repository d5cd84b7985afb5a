import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { computeContext } from '../../../../plugins/dlbricks/bricks/needs.js';
import { RECIPE_FORMAT } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { countEnds } from '../../../../plugins/dlbricks/bricks/decompose.js';
import { prepareModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { measureSuite } from '../../../../plugins/dlbricks/measure/measure-suite.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { readResults, resultsText } from '../../../../plugins/dlbricks/exchange/results-file.js';
import { readSuite, type Suite, writeSuite } from '../../../../plugins/dlbricks/exchange/suite.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { LIMITS, PROTOCOL } from '../../../store/sample-measurement.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { loadedChain } from '../support/chain-model.js';
import { CALL_MS, type DriftingAgent, driftingAgent } from '../support/drifting-agent.js';
import { spreadsOf } from '../support/spreads.js';
import { abilitiesWith } from '../../../../src/agent/agent-description.js';

const RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
const MEASURING = { runOptions: RUN_OPTIONS, protocol: PROTOCOL, limits: LIMITS };
const SETTINGS = { cut: 'kernel', granularity: 1, runOptions: RUN_OPTIONS } as const;

/** Runs without callbacks. */
const unwatched = { signal: new AbortController().signal, onEvent: () => undefined };

const loaded = loadedChain('model', 'Relu', 'Neg', 'Relu', 'Abs');
/** An agent that measures bricks together, and one that measures copies of them. */
const WAYS = {
  'bricks that are measured together': (...factors: readonly number[]): DriftingAgent => driftingAgent(...factors),
  'bricks as copies': (...factors: readonly number[]): DriftingAgent => {
    const agent = driftingAgent(...factors);
    return { ...agent, description: { ...agent.description, ...abilitiesWith(false) } };
  },
} as const;

for (const [way, agentOf] of Object.entries(WAYS)) {
  const prepared = await prepareModel(loaded, SETTINGS, agentOf(), unwatched.signal);
  const footprintBytes = prepared.recipe.footprint_bytes;
  const suite: Suite = {
    cut: 'kernel',
    granularity: 1,
    bricks: prepared.bricks.map((brick) => ({ ...brick, footprintBytes })),
    calls: [countEnds(loaded.model)],
    outputCopies: [],
  };
  /** The signatures that are measured for Relu, Neg and Abs. */
  const BRICKS = prepared.bricks.map(({ copies, signature }) => copies?.benchmark.signature ?? signature).sort();

  describe(`a suite of ${way}`, () => {
    test('is measured on two occasions, the second after everything else', async () => {
      const agent = agentOf(0.98, 1.02);
      const context = { agent, store: await openMemoryStore(), ...unwatched };
      const { measured, measurements, interrupted } = await measureSuite(suite, MEASURING, context);
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
      const header = { format: RECIPE_FORMAT, cut: 'kernel', granularity: 1, batch: 1 } as const;
      await writeSuite(folder, suite, { ...header, models: [recipe] });
      const given = await readSuite(join(folder, 'suite'));
      const context = { agent: agentOf(0.98, 1.02), store: await openMemoryStore(), ...unwatched };
      const { measurements } = await measureSuite(given, MEASURING, context);
      const path = join(folder, 'results.json');
      await writeFile(path, resultsText(measurements));

      const read = await readResults(path);
      assert.deepEqual(read, measurements);
      const observations = groupObservations(read);
      const [{ system } = assert.fail()] = read;
      const model = { recipe, context: computeContext(recipe, system) };
      const spread = spreadsOf([model], observations);
      const { sequential, coverage, measuringError } = compose(model, observations, spread);
      assert.ok(Math.abs((spread?.bricks.processes.relative ?? NaN) - Math.SQRT2 * 0.02) < 1e-9);
      assert.equal(coverage, 1);
      const wholeMs = 1 + 2 + 1 + 4 + CALL_MS;
      assert.ok(Math.abs((sequential?.ms ?? NaN) - wholeMs) < 1e-9, `${sequential?.ms}`);
      assert.ok((sequential?.lowMs ?? NaN) < wholeMs && wholeMs < (sequential?.highMs ?? NaN));
      assert.ok((measuringError ?? NaN) > 0);
    });

    test('that is interrupted between the occasions continues with the second', async () => {
      const store = await openMemoryStore();
      const controller = new AbortController();
      const agent = agentOf(0.98, 1.02);
      const onEvent = (): void => {
        if (agent.asked.some(({ occasion }) => occasion === 2)) controller.abort();
      };
      const stopped = await measureSuite(suite, MEASURING, {
        agent,
        store,
        signal: controller.signal,
        onEvent,
      });
      assert.equal(stopped.interrupted, true);
      assert.equal(agent.asked.filter(({ occasion }) => occasion === 2).length, 1);

      const rest = agentOf(0.98, 1.02);
      const { measured, interrupted } = await measureSuite(suite, MEASURING, {
        agent: rest,
        store,
        ...unwatched,
      });
      assert.deepEqual([measured, interrupted], [BRICKS.length - 1, false]);
      assert.ok(rest.asked.every(({ occasion }) => occasion === 2));
    });
  });
}
