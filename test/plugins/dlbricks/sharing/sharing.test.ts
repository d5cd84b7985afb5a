import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { shownSharing, type BricksOfModel, sharingAmong } from '../../../../plugins/dlbricks/sharing/sharing-result.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf, SYSTEM } from '../../../store/sample-measurement.js';

const NOTHING = groupObservations([]);

/** A model of these bricks in this order; brick i takes about i + 1 ms. */
function bricksOfModel(name: string, sequences: readonly number[], footprintBytes?: number): BricksOfModel {
  const unique = [...new Set(sequences)];
  const recipe: ModelRecipe = {
    name,
    layers: sequences.length * 3,
    ...(footprintBytes === undefined ? {} : { footprint_bytes: footprintBytes }),
    bricks: unique.map((brick) => ({ signature: signatureOf(brick), operators: [`Op${brick}`] })),
    sequences: sequences.map((brick) => unique.indexOf(brick)),
    edges: [],
  };
  return { recipe, roughMs: unique.map((brick) => brick + 1) };
}

/** A measurement of brick number `brick` with this latency. */
function measured(brick: number, ms: number): Measurement {
  return sampleMeasurement(brick, { outcome: { kind: 'samples', runMs: [ms, ms, ms, ms, ms], warmupMs: [] } });
}

describe('sharing among models', () => {
  test('counts repeats within a model and bricks that others have too', () => {
    const models = [bricksOfModel('a', [0, 1, 1, 2]), bricksOfModel('b', [1, 3]), bricksOfModel('c', [4])];
    const { models: shared, sequences, unique } = sharingAmong(models, SYSTEM, NOTHING);

    assert.deepEqual(
      shared.map((model) => {
        return [model.sequences, model.unique_bricks, model.own_repeats_percent, model.covered_by_others_percent];
      }),
      [
        [4, 3, 25, 50],
        [2, 2, 0, 50],
        [1, 1, 0, 0],
      ],
    );
    assert.deepEqual([sequences, unique], [7, 5]);
  });

  test('compares each pair of models by their unique bricks', () => {
    const models = [bricksOfModel('a', [0, 1, 1]), bricksOfModel('b', [1, 2, 3]), bricksOfModel('c', [0, 1])];
    assert.deepEqual(sharingAmong(models, SYSTEM, NOTHING).jaccard, [
      [1, 1 / 4, 1],
      [1 / 4, 1, 1 / 4],
      [1, 1 / 4, 1],
    ]);
  });

  test('counts the bricks that no earlier model has, and shows what they save as models are added', () => {
    const models = [bricksOfModel('a', [0, 1, 1, 2]), bricksOfModel('b', [2, 1]), bricksOfModel('c', [3, 0])];
    const sharing = sharingAmong(models, SYSTEM, NOTHING);
    assert.deepEqual(
      sharing.models.map((model) => model.new_bricks),
      [3, 0, 1],
    );
    const { page } = shownSharing(sharing, { cut: 'kernel', granularity: 1, batch: 1 });
    const section = page?.().sections.find(({ title }) => title === 'Savings as models are added');
    assert.deepEqual(section?.table?.rows, [
      ['a', '4', '3', '4', '3', '25 %'],
      ['b', '2', '0', '6', '3', '50 %'],
      ['c', '2', '1', '8', '4', '50 %'],
    ]);
    assert.match(section.chart?.text ?? '', /\+ c.*4 bricks for 8 sequences, 50 % saved/);
  });

  test('has no share of others for a single model', () => {
    const [only] = sharingAmong([bricksOfModel('a', [0, 0])], SYSTEM, NOTHING).models;
    assert.equal(only?.covered_by_others_percent, null);
    assert.equal(only?.covered_by_others_time_percent, null);
  });

  test('has no share of time in other models before every brick of the model is measured', () => {
    const models = [bricksOfModel('a', [0, 1]), bricksOfModel('b', [1])];
    const some = groupObservations([measured(1, 3)]);
    const all = groupObservations([measured(0, 1), measured(1, 3)]);
    assert.equal(sharingAmong(models, SYSTEM, some).models[0]?.covered_by_others_time_percent, null);
    assert.equal(sharingAmong(models, SYSTEM, all).models[0]?.covered_by_others_time_percent, 75);
  });

  test('has the measured share of a model, by count and by rough time', () => {
    const [model] = sharingAmong([bricksOfModel('a', [0, 0, 3])], SYSTEM, groupObservations([measured(3, 40)])).models;
    assert.equal(model?.measured_percent, 100 / 3);
    // 4 of 1 + 1 + 4.
    assert.equal(model.measured_time_percent, 400 / 6);
  });

  test('treats failures as not measured', () => {
    const failed = sampleMeasurement(0, { outcome: { kind: 'failure', reason: 'crashed', message: 'signal 11' } });
    const [model] = sharingAmong([bricksOfModel('a', [0])], SYSTEM, groupObservations([failed])).models;
    assert.equal(model?.measured_percent, 0);
  });

  test('treats the same brick as another one in a model of a much larger footprint', () => {
    const models = [bricksOfModel('small', [0], 2 ** 20), bricksOfModel('large', [0], 2 ** 32)];
    const sharing = sharingAmong(models, SYSTEM, NOTHING);
    assert.deepEqual(
      sharing.models.map((model) => model.covered_by_others_percent),
      [0, 0],
    );
    assert.equal(sharing.unique, 2);
    const settings = { cut: 'kernel', granularity: 1, batch: 1 } as const;
    assert.match(
      shownSharing(sharing, settings).text({ color: false, width: undefined }),
      /^1 of them differs from others only in the footprint of the model: /m,
    );
    const alike = sharingAmong(
      [bricksOfModel('a', [0, 1], 2 ** 20), bricksOfModel('b', [0], 2 ** 20)],
      SYSTEM,
      NOTHING,
    );
    assert.doesNotMatch(shownSharing(alike, settings).text({ color: false, width: undefined }), /footprint/);
  });
});

describe('the table of sharing', () => {
  const models = [bricksOfModel('a-model-with-a-rather-long-name', [0, 1, 1, 2]), bricksOfModel('b', [1, 3])];
  const shown = shownSharing(sharingAmong(models, SYSTEM, NOTHING), { cut: 'kernel', granularity: 1, batch: 1 });

  test('fits 80 columns, with the shares of time, and names the columns that are left out', () => {
    const text = shown.text({ color: false, width: 80 });
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
    assert.match(text, /│ in others │/);
    assert.match(text, /\(time\) │ +\(time\) │/);
    assert.match(text, /^This terminal is too narrow for: layers, /m);
  });

  test('has all columns where there is room', () => {
    const text = shown.text({ color: false, width: undefined });
    assert.match(
      text,
      /│ layers │ sequences │ unique bricks │ own repeats │ in others │ in others \(time\) │ measured │/,
    );
    assert.doesNotMatch(text, /too narrow/);
  });
});
