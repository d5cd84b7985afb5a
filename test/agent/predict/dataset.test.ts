import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { datasetFiles } from '../../../src/agent/predict/dataset.js';
import { FeatureType } from '../../../src/generated/mlmodelscope/org/dlframework/features.js';
import { coloredPictures } from '../support/colored-pictures.js';
import { foundIn, type PredictClient, predictClient } from '../support/predict-client.js';
import { predictionModels } from '../support/prediction-models.js';
import { assertStatus } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';

describe('predicting for datasets', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mlmodelscope-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const datasetsFolder = join(folder, 'datasets');
  const agent = agentForSuite({ resolveModel: predictionModels(), access: { datasetsFolder } });
  let client: PredictClient;
  let pictures: readonly Buffer[];
  let model: string;
  before(async () => {
    client = predictClient(agent().address);
    pictures = await coloredPictures(4);
    model = await client.open('classifier');
    const validation = join(datasetsFolder, 'vision/validation');
    mkdirSync(join(validation, 'b'), { recursive: true });
    writeFileSync(join(validation, 'b/2.png'), pictures[2] ?? '');
    writeFileSync(join(validation, '1.png'), pictures[1] ?? '');
    writeFileSync(join(validation, 'c.jpg'), pictures[3] ?? '');
    writeFileSync(join(validation, 'notes.txt'), 'not a picture');
    mkdirSync(join(datasetsFolder, 'vision/empty'));
    mkdirSync(join(datasetsFolder, 'vision/links'));
    writeFileSync(join(folder, 'secret.png'), pictures[0] ?? '');
    symlinkSync(join(folder, 'secret.png'), join(datasetsFolder, 'vision/links/a.png'));
    symlinkSync(folder, join(datasetsFolder, 'vision/elsewhere'));
    mkdirSync(join(datasetsFolder, 'vision/inside'));
    symlinkSync(join(validation, '1.png'), join(datasetsFolder, 'vision/inside/one.png'));
  });

  after(() => client.close());

  test('each picture of a folder has its path as id', async () => {
    const answer = foundIn(await client.dataset(model, 'vision', 'validation', { batchSize: 2 }));
    const direct = foundIn(await client.images(model, pictures.slice(1, 4)));
    assert.deepEqual(
      answer.map(({ inputId }) => inputId),
      ['1.png', 'b/2.png', 'c.jpg'],
    );
    assert.deepEqual(
      answer.map(({ features }) => features),
      direct.map(({ features }) => features),
    );
  });

  test('a dataset with too many pictures, or too many files, says which of them are too many', async () => {
    const filesWithin = (pictures: number, files: number) =>
      datasetFiles(datasetsFolder, 'vision', 'validation', { pictures, files });
    assert.equal((await filesWithin(3, 4)).length, 3);
    await assert.rejects(filesWithin(2, 4), /has more than 2 pictures; ask for a part/);
    await assert.rejects(filesWithin(3, 3), /has more than 3 files; ask for a part/);
  });

  test('a link to a picture within the datasets is followed', async () => {
    const { responses } = await client.dataset(model, 'vision', 'inside');
    assert.deepEqual(
      responses.map(({ inputId }) => inputId),
      ['one.png'],
    );
  });

  const refused: readonly [string, string, string, status, RegExp][] = [
    ['a link out of the folder', 'vision', 'links', status.INVALID_ARGUMENT, /a\.png leads out of it/],
    ['a folder that is a link out', 'vision', 'elsewhere', status.INVALID_ARGUMENT, /leads out of it/],
    ['the folder above', '..', '', status.INVALID_ARGUMENT, /names of folders/],
    ['a way up', 'vision', '../../..', status.INVALID_ARGUMENT, /names of folders/],
    ['an absolute path', '/etc', 'ssl', status.NOT_FOUND, /has no dataset/],
    ['no name', '', '', status.INVALID_ARGUMENT, /names of folders/],
    ['a file', 'vision', 'validation/1.png', status.NOT_FOUND, /cannot be read/],
    ['a name with a zero byte', 'vision', 'a\0b', status.INVALID_ARGUMENT, /names of folders/],
    ['a missing dataset', 'vision', 'training', status.NOT_FOUND, /has no dataset "vision\/training"/],
    ['a folder without pictures', 'vision', 'empty', status.NOT_FOUND, /has no pictures/],
  ];
  for (const [what, category, name, code, details] of refused) {
    test(`refuses ${what}`, async () => {
      await assertStatus(client.dataset(model, category, name), code, details);
    });
  }

  test('a synthetic dataset has as many elements as its name says, each different', async () => {
    const answers = await Promise.all(
      [1, 3].map((batchSize) => client.dataset(model, 'synthetic', '4', { batchSize })),
    );
    const [one, other] = answers.map(foundIn);
    assert.deepEqual(one, other);
    assert.deepEqual(
      one?.map(({ inputId }) => inputId),
      ['0', '1', '2', '3'],
    );
    assert.equal(new Set(one?.map(({ features }) => JSON.stringify(features))).size, 4);
  });

  test('outputs without steps are returned unchanged', async () => {
    const id = await client.open('relu');
    const [response] = (await client.dataset(id, 'synthetic', '')).responses;
    const [output] = response?.features ?? [];
    assert.ok(output?.feature?.$case === 'raw');
    const { data, format } = output.feature.value;
    const values = new Float32Array(Uint8Array.from(data).buffer);
    assert.deepEqual([output.type, format, values.length], [FeatureType.RAW, 'float32', 3]);
    assert.deepEqual(output.metadata, { name: 'y', element_type: 'float32', dimensions: '[3]' });
    assert.ok(values.every((value) => value >= 0));
    await client.closeModel(id);
  });

  test('an answer that is too large is refused', async () => {
    const options = { batchSize: 1000, featureLimit: 5 };
    assert.equal((await client.dataset(model, 'synthetic', '10000', options)).responses.length, 10_000);
    const wide = await client.open('wide');
    const asked = client.dataset(wide, 'synthetic', '10000', options);
    await assertStatus(asked, status.INVALID_ARGUMENT, /more than 16777216 bytes; ask for \d+ elements at most/);
    await client.closeModel(wide);
  });

  test('a synthetic dataset whose name is no valid number is refused', async () => {
    for (const name of ['0', 'many', '99999', '-1']) {
      await assertStatus(client.dataset(model, 'synthetic', name), status.INVALID_ARGUMENT, /number of its elements/);
    }
  });
});
