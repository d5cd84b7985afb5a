import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { attribute, int, ints, model, node, value } from '../onnx/protos.js';
import { deadline } from './support/command.js';
import { reportIn } from './support/report.js';
import { QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** Number of inner nodes. Inner node i goes left to a leaf and right to the next inner node, the last one to a leaf. */
const BRANCHES = 20;
const NODES = 2 * BRANCHES + 1;
const LEAVES = Array.from({ length: BRANCHES + 1 }, (_, index) => BRANCHES + index);

const perNode = (valueOf: (index: number) => number): number[] => Array.from({ length: NODES }, (_, i) => valueOf(i));
const floats = (name: string, list: readonly number[]) => attribute(name, { floats: [...list], type: 6 });
const isBranch = (index: number): boolean => index < BRANCHES;
const modes = perNode((i) => Number(isBranch(i))).map((branch) => Buffer.from(branch === 1 ? 'BRANCH_LEQ' : 'LEAF'));

/** A tree of 41 nodes, which are in the attributes of the operator. */
const TREE = model(
  {
    input: [value('x', ['batch', 4])],
    node: [
      node(
        'TreeEnsembleRegressor',
        ['x'],
        ['y'],
        [
          int('n_targets', 1),
          ints(
            'nodes_treeids',
            perNode(() => 0),
          ),
          ints(
            'nodes_nodeids',
            perNode((i) => i),
          ),
          ints(
            'nodes_featureids',
            perNode((i) => i % 4),
          ),
          floats(
            'nodes_values',
            perNode((i) => i / NODES),
          ),
          attribute('nodes_modes', { strings: modes, type: 8 }),
          ints(
            'nodes_truenodeids',
            perNode((i) => (isBranch(i) ? BRANCHES + i : 0)),
          ),
          ints(
            'nodes_falsenodeids',
            perNode((i) => (isBranch(i) ? (i + 1 < BRANCHES ? i + 1 : NODES - 1) : 0)),
          ),
          ints(
            'target_treeids',
            LEAVES.map(() => 0),
          ),
          ints('target_nodeids', LEAVES),
          ints(
            'target_ids',
            LEAVES.map(() => 0),
          ),
          floats('target_weights', LEAVES),
        ],
        { domain: 'ai.onnx.ml' },
      ),
    ],
    output: [value('y', ['batch', 1])],
  },
  {
    opsetImport: [
      { domain: '', version: 17n },
      { domain: 'ai.onnx.ml', version: 3n },
    ],
  },
);

describe('a model that has learned values in attributes', { ...deadline, concurrency: 2 }, () => {
  for (const cut of ['kernel', 'layer']) {
    it(`is measured and estimated at the ${cut} cut`, async (t) => {
      const place = await workplaceHere(t);
      await place.write('tree.onnx', TREE);
      const ending = await place.run(['dlbricks', 'run', 'tree.onnx', '--cut', cut, ...QUICK, '--export-json', '-']);
      assert.equal(ending.code, 0, ending.stderr);
      assert.equal(reportIn(ending).models[0]?.coverage, 1);
    });
  }

  it('is refused by generate, which would disclose these values', async (t) => {
    const place = await workplaceHere(t);
    await place.write('tree.onnx', TREE);
    const ending = await place.run(['dlbricks', 'generate', 'tree.onnx', '-o', 'out']);
    assert.notEqual(ending.code, 0);
    assert.match(ending.stderr, /tree.*TreeEnsembleRegressor/);
    assert.ok(!existsSync(place.path('out/suite')));
  });
});
