import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newDatabase } from '../../bench/scale/database.js';
import { overheadOf } from '../../bench/scale/figures.js';
import { startPlatform } from '../../bench/scale/platform.js';
import { runOnce } from '../../bench/scale/run.js';
import { storeSizes } from '../../bench/scale/store-size.js';
import { needsFerretDb } from '../store/mongodb/ferretdb-process.js';
import { needsRabbitMq, startRabbitMq } from '../work/amqp/rabbitmq-process.js';

/** Only ends a test that hangs. */
const deadline = { timeout: 600_000 };

const SIZE = { agents: 3, servers: 2, brickMs: 5 };
const BRICKS = 121;

describe('the scale benchmark', { ...deadline, ...needsFerretDb }, () => {
  it('has several servers and agents measure every brick once, and reports the cost', needsRabbitMq, async (t) => {
    const database = await newDatabase(t);
    const broker = await startRabbitMq(t);
    const platform = await startPlatform(t, { database, queue: broker.uri }, SIZE);
    for (const name of ['first', 'second']) {
      const figures = await runOnce(platform, name, BRICKS, SIZE);
      assert.equal(figures.bricks, BRICKS);
      assert.ok(figures.items >= SIZE.servers && figures.items <= BRICKS, String(figures.items));
      // Agents wait for as long as the ideal time says, so nothing is faster.
      assert.ok(overheadOf(figures) > -0.05, String(overheadOf(figures)));
      const counts = Object.entries(figures.roles).map(([role, { processes }]) => [role, processes]);
      assert.deepEqual(
        new Map(counts.toSorted() as [string, number][]),
        new Map([
          ['agent', SIZE.agents],
          ['benchmark', 1],
          ['broker', 1],
          ['database', 1],
          ['plugin', SIZE.servers],
          ['server', SIZE.servers],
        ]),
      );
      assert.ok(Object.values(figures.roles).every(({ peakBytes, shareBytes }) => peakBytes > 0 && shareBytes > 0));
    }
  });

  it('reports the bytes of measurements in a store', async (t) => {
    const { uri } = await newDatabase(t);
    const sizes = await storeSizes(uri, [20, 100]);
    assert.deepEqual(
      sizes.map(({ measurements }) => measurements),
      [20, 100],
    );
    for (const { documentBytes, indexes } of sizes) {
      // A document has at least its 13 times of 8 bytes; an index entry at least the 97 characters of an id.
      assert.ok(documentBytes > 13 * 8);
      assert.ok(indexes.length > 0 && indexes.every(({ keyBytes }) => keyBytes >= 97));
    }
  });
});
