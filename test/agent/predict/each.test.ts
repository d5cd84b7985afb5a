import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import {
  connectPredictions,
  type PredictionClient,
  type PredictionInputs,
  type PredictionSettings,
} from '../../../src/agent/client/prediction-client.js';
import {
  type Element,
  PredictEachRequest,
  PredictionServiceService,
} from '../../../src/generated/mlmodelscope/prediction/v1/prediction.js';
import { coloredPictures } from '../support/colored-pictures.js';
import { predictionModels, weightAt } from '../support/prediction-models.js';
import { assertStatus, rawClient } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';

const NO_PICTURE = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>');

function ints(
  values: readonly number[],
  dimensions: readonly number[] = [values.length],
  name = '',
): Element['tensors'][number] {
  const data = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { name, elementType: 'int64', dimensions: [...dimensions], data };
}

function reals(values: readonly number[], dimensions: readonly number[] = [values.length]): Element['tensors'][number] {
  return {
    name: '',
    elementType: 'float64',
    dimensions: [...dimensions],
    data: new Uint8Array(new Float64Array(values).buffer),
  };
}

function elements(...tensors: Element['tensors'][number][]): PredictionInputs {
  const value = tensors.map((tensor, i) => ({ id: `e${i}`, tensors: [tensor] }));
  return { $case: 'elements', value: { elements: value } };
}

describe('predicting one by one', { timeout: 300_000 }, () => {
  const agent = agentForSuite({ resolveModel: predictionModels(), access: { isAllowedAddress: () => true } });
  let client: PredictionClient;
  let web: Server;
  let pictures: readonly Buffer[];
  const never = new AbortController().signal;
  before(async () => {
    client = connectPredictions(agent().address, 'agent');
    pictures = await coloredPictures(3);
    web = createServer((request, response) => {
      if (request.url === '/picture.png') response.end(pictures[0]);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(web, 'listening');
  });
  after(() => {
    client.close();
    web.close();
  });

  /** The open models by their names and batches: each is a process. */
  const opened = new Map<string, Promise<string>>();

  function open(modelName: string, settings: PredictionSettings): Promise<string> {
    const key = `${modelName} ${settings.batchSize}`;
    const model = { modelName, modelVersion: '', frameworkName: '', frameworkVersion: '' };
    const id = opened.get(key) ?? client.open(model, settings, never);
    opened.set(key, id);
    return id;
  }

  /** Ids of inputs, each with its first class or its failure. */
  async function found(modelName: string, inputs: PredictionInputs, settings = { batchSize: 3 }) {
    const id = await open(modelName, settings);
    const rows: (readonly [string, number | string])[] = [];
    const sizes: number[] = [];
    for await (const { inputId, outcome, batch } of client.predictEach(id, inputs, never)) {
      if (batch !== undefined) sizes.push(batch.size);
      if (outcome.kind === 'failure') rows.push([inputId, `${outcome.code}: ${outcome.message}`]);
      else {
        const [first] = outcome.features;
        assert.ok(first?.kind === 'classification' || first?.kind === 'raw');
        rows.push([inputId, first.kind === 'raw' ? first.dims.join() : first.index]);
      }
    }
    return { rows, sizes };
  }

  function images(...data: readonly Uint8Array[]): PredictionInputs {
    return { $case: 'images', value: { images: data.map((bytes, i) => ({ id: `p${i}`, data: bytes })) } };
  }

  test('an input that is no picture fails alone in any batch, and the others give the same as without it', async () => {
    const [red = Buffer.of(), green = Buffer.of(), blue = Buffer.of()] = pictures;
    const alone = await found('classifier', images(red, green, blue));
    for (const batchSize of [1, 2, 4]) {
      const { rows } = await found('classifier', images(red, NO_PICTURE, green, blue), { batchSize });
      assert.deepEqual(
        rows.map(([id]) => id),
        ['p0', 'p1', 'p2', 'p3'],
      );
      assert.match(String(rows[1]?.[1]), /^usage: input "p1": expected a JPEG, PNG, WebP or GIF/);
      assert.deepEqual(
        [rows[0], rows[2], rows[3]].map((row) => row?.[1]),
        alone.rows.map(([, value]) => value),
      );
    }
  });

  test('a narrow picture that would be resized to 82 million pixels fails alone, at once', async () => {
    const [red = Buffer.of()] = pictures;
    const narrow = await sharp({ create: { width: 1, height: 20_000, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const { rows } = await found('cropping', images(narrow, red), { batchSize: 2 });
    assert.match(String(rows[0]?.[1]), /^usage: input "p0": resizing it from 1 x 20000 to 64 x 1280000 pixels/);
    assert.equal(typeof rows[1]?.[1], 'number');
  });

  test('each batch states its size once', async () => {
    const { sizes } = await found('classifier', images(...pictures), { batchSize: 2 });
    assert.deepEqual(sizes, [2, 1]);
  });

  test('an address without a picture fails alone', async () => {
    const { port } = web.address() as AddressInfo;
    const urls = ['missing.png', 'picture.png'].map((name) => ({ id: name, data: `http://127.0.0.1:${port}/${name}` }));
    const { rows } = await found('classifier', { $case: 'urls', value: { urls } }, { batchSize: 2 });
    assert.match(String(rows[0]?.[1]), /^not_found: nothing can be fetched from .*status 404/);
    assert.equal(typeof rows[1]?.[1], 'number');
  });

  test('made-up inputs are counted', async () => {
    const { rows, sizes } = await found(
      'wide',
      { $case: 'dataset', value: { category: 'synthetic', name: '5' } },
      { batchSize: 2 },
    );
    assert.deepEqual([rows.length, sizes], [5, [2, 2, 1]]);
  });

  test('tokens give the classes of the last token', async () => {
    // The largest of weightAt(3 * token + class) for the classes 0 to 2.
    const best = (token: number) => {
      const scores = [0, 1, 2].map((index) => weightAt(3 * token + index));
      return scores.indexOf(Math.max(...scores));
    };
    const { rows, sizes } = await found('tokens', elements(ints([4, 7]), ints([1, 2, 3]), ints([5, 9, 0])));
    assert.deepEqual(rows, [
      ['e0', best(7)],
      ['e1', best(3)],
      ['e2', best(0)],
    ]);
    // Texts of the same length share a batch.
    assert.deepEqual(sizes, [1, 2]);
  });

  test('a token that the model does not know fails alone', async () => {
    const { rows } = await found('tokens', elements(ints([1, 2]), ints([1, 1000]), ints([2, 3])));
    assert.match(String(rows[1]?.[1]), /^model: the runtime could not run the graph: .*1000/);
    assert.deepEqual(
      rows.map(([, value]) => typeof value),
      ['number', 'string', 'number'],
    );
  });

  const refused: readonly (readonly [string, string, PredictionInputs, RegExp])[] = [
    [
      'of fractions',
      'tokens',
      elements(reals([1.5, 2])),
      /takes whole numbers from -9223372036854775808 to .*found 1.5/,
    ],
    ['that are NaN', 'tokens', elements(reals([NaN])), /found NaN/],
    ['of another rank', 'tokens', elements(ints([1, 2, 3, 4], [2, 2])), /"tokens" takes \[any\]; found \[2, 2\]/],
    ['without elements', 'tokens', elements(ints([], [0])), /is empty: \[0\]/],
    ['of another length', 'relu', elements(ints([1, 2])), /"x" takes \[3\]; found \[2\]/],
    ['of another name', 'relu', elements(ints([1, 2, 3], [3], 'z')), /no input is called "z"; the model has "x"/],
    [
      'shorter than they say',
      'relu',
      elements({ ...ints([1, 2, 3]), dimensions: [4] }),
      /has 24 bytes; its 4 elements take 32/,
    ],
    ['too large', 'relu', elements({ ...ints([1]), dimensions: [2 ** 31, 2 ** 31] }), /at most 4194304 can be given/],
    [
      'of another type',
      'relu',
      elements({ ...ints([1, 2, 3]), elementType: 'string' }),
      /given as "string"; give int64 or float64/,
    ],
  ];
  for (const [what, model, inputs, message] of refused) {
    test(`tensors ${what} are refused with a reason`, async () => {
      const { rows } = await found(model, inputs);
      assert.match(String(rows[0]?.[1]), message);
      assert.equal(rows.length, 1);
    });
  }

  test('a tensor may have a batch of one', async () => {
    const { rows } = await found(
      'relu',
      elements(ints([1, 2, 3]), ints([1, 2, 3], [1, 3]), reals([NaN, Infinity, -1])),
    );
    assert.deepEqual(rows, [
      ['e0', '3'],
      ['e1', '3'],
      ['e2', '3'],
    ]);
  });

  test('a request without inputs is refused, and so is a model that is not open', async () => {
    const raw = rawClient(agent().address);
    const ask = (request: Partial<PredictEachRequest>) => {
      return raw.stream(PredictionServiceService.predictEach, PredictEachRequest.fromPartial(request));
    };
    const asked = ask({ predictor: { id: 'x', duration: undefined } });
    await assertStatus(asked, status.INVALID_ARGUMENT, /inputs is empty/);
    await assertStatus(
      ask({ predictor: { id: 'x', duration: undefined }, inputs: images(...pictures) }),
      status.NOT_FOUND,
      /no model is open/,
    );
    await assertStatus(ask({ inputs: images(...pictures) }), status.INVALID_ARGUMENT, /predictor\.id is empty/);
    raw.close();
  });
});
