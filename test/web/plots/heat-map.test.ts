import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heatMapSvg } from '../../../src/web/plots/heat-map.js';

const NAMES = ['resnet18', '<script>&"'];

describe('a heat map', () => {
  const svg = heatMapSvg({
    title: 'Unique bricks in common',
    names: NAMES,
    values: [
      [1, 0.137],
      [0.137, 1],
    ],
  });

  test('has a cell for each pair of models, with its figure in percent', () => {
    assert.equal(svg.match(/<rect /g)?.length, 4);
    assert.deepEqual(
      [...svg.matchAll(/>(?<figure>\d+)<\/text>/g)].map(({ groups }) => groups?.['figure']),
      ['100', '14', '14', '100'],
    );
  });

  test('names rows and columns, and escapes markup in the names', () => {
    assert.equal(svg.match(/>resnet18</g)?.length, 2);
    assert.ok(!svg.includes('<script'));
    assert.equal(svg.match(/&#60;script&#62;&#38;&#34;/g)?.length, 2);
  });

  test('is darker if more is shared', () => {
    const [most, least] = [...svg.matchAll(/fill="rgb\((?<red>\d+),/g)].map(({ groups }) => Number(groups?.['red']));
    assert.ok(most !== undefined && least !== undefined && most < least);
  });
});
