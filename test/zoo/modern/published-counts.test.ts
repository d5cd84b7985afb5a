import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { countMultiplyAccumulates } from '../support/multiply-accumulates.js';
import { zooSizes } from '../support/zoo-sizes.js';
import { MODERN } from '../../../src/zoo/architectures/modern/index.js';
import { buildZooModel } from '../../../src/zoo/zoo.js';

/**
 * Half of the last digit of a rounded number: torchvision rounds to 10^6, Ultralytics its 8.7 * 10^9 operations to
 * 10^8.
 */
function rounding(name: string, multiplyAccumulates: number): number {
  if (name === 'yolov8n') return 0.05e9 / 2;
  const isRounded = multiplyAccumulates % 1_000_000 === 0 || name === 'deeplabv3_resnet50';
  return isRounded ? 500_000 : 0;
}

describe('the architectures of today have the published sizes', () => {
  for (const entry of MODERN) {
    const { name, paper, title, source } = entry;
    test(name, () => {
      const { parameters, multiplyAccumulates: counted } = zooSizes(entry);
      assert.equal(parameters, entry.parameters);
      if (entry.multiplyAccumulates !== undefined) {
        const difference = Math.abs(counted - entry.multiplyAccumulates);
        assert.ok(difference <= rounding(name, entry.multiplyAccumulates), `${counted}`);
      }
      assert.match(paper, /20\d\d/);
      assert.ok(source.length > 0 && title.length > 0);
    });
  }

  test('work grows with the batch and with the sequence', () => {
    const model = buildZooModel('llama_0.1b_decode');
    const work = (batch: number, past: number): number => countMultiplyAccumulates(model, { batch, past });
    assert.equal(work(2, 99), 2 * work(1, 99));
    // Each further position is one more product of each query with a key, and of each weight with a value.
    assert.equal(work(1, 100) - work(1, 99), 30 * 2 * 576);
  });
});

test('the documentation shows the same numbers', async () => {
  const page = await readFile(new URL('../../../../docs/zoo.md', import.meta.url), 'utf8');
  for (const entry of MODERN) {
    const { layers, parameters, multiplyAccumulates } = zooSizes(entry);
    const giga = (multiplyAccumulates / 1e9).toFixed(3);
    const cells = [`\`zoo:${entry.name}\``, entry.title, layers, parameters.toLocaleString('en-US'), giga];
    const pattern = cells.map((cell) => String(cell).replace(/[.()]/g, '\\$&')).join(' *\\| *');
    assert.match(page, new RegExp(`\\| *${pattern} *\\|`));
  }
});
