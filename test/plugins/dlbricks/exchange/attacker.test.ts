import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { decomposeModel } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { bindDimensions } from '../../../../src/onnx/layers/bind-dimensions.js';
import { buildZooModel, CLASSICS } from '../../../../src/zoo/zoo.js';

// An attacker gets a suite, knows every architecture of the zoo, and guesses which one it represents.

type Signatures = ReadonlySet<string>;

function bricksOf(name: string, granularity: number): Signatures {
  const { dimensions = {} } = CLASSICS.find((entry) => entry.name === name) ?? {};
  const model = bindDimensions(buildZooModel(name), new Map(Object.entries(dimensions)), { batch: 1 });
  const { bricks } = decomposeModel(name, layerGraph(model), granularity);
  return new Set(bricks.map(({ signature }) => signature));
}

function zooAt(granularity: number): ReadonlyMap<string, Signatures> {
  return new Map(CLASSICS.map(({ name }) => [name, bricksOf(name, granularity)]));
}

/** Whether all bricks of the candidate are in the suite. */
function isIn(candidate: Signatures, suite: Signatures): boolean {
  return [...candidate].every((signature) => suite.has(signature));
}

/**
 * The chance that the attacker names the secret model, by choosing one of the architectures that are entirely in the
 * suite.
 */
function chanceOf(secret: string, decoys: readonly string[], zoo: ReadonlyMap<string, Signatures>): number {
  const suite = new Set([secret, ...decoys].flatMap((name) => [...(zoo.get(name) ?? [])]));
  const candidates = [...zoo].filter(([, bricks]) => isIn(bricks, suite)).map(([name]) => name);
  assert.ok(candidates.includes(secret));
  return 1 / candidates.length;
}

/** The mean chance over all architectures. The decoys of each are the next architectures of the zoo. */
function hitRate(t: TestContext, zoo: ReadonlyMap<string, Signatures>, decoys: number): number {
  const names = [...zoo.keys()];
  const chances = names.map((secret, index) => {
    const others = Array.from({ length: decoys }, (_, i) => names[(index + 1 + i) % names.length] ?? '');
    return chanceOf(secret, others, zoo);
  });
  const rate = chances.reduce((sum, chance) => sum + chance, 0) / names.length;
  t.diagnostic(`${decoys} decoys: the attacker names ${(rate * 100).toFixed(0)} % of ${names.length} models`);
  return rate;
}

describe('an attacker who knows the architectures', () => {
  const zoo = zooAt(1);

  test('recognizes most of them without decoys: a suite hides weights and the depth within a family, not the architecture', (t) => {
    assert.ok(hitRate(t, zoo, 0) > 0.7);
  });

  test('recognizes one of four with three decoys', (t) => {
    assert.ok(hitRate(t, zoo, 3) <= 0.25);
  });

  test('recognizes no more of them in bricks of one layer than in larger ones', (t) => {
    assert.ok(hitRate(t, zoo, 3) <= hitRate(t, zooAt(10), 3));
  });
});
