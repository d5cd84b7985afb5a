import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { coloredPictures } from '../support/colored-pictures.js';
import { foundIn, type PredictClient, predictClient } from '../support/predict-client.js';
import { predictionModels } from '../support/prediction-models.js';
import { assertStatus } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';

describe('predicting for URLs', { timeout: 300_000 }, () => {
  const resolveModel = predictionModels();
  const careful = agentForSuite({ resolveModel });
  const trusting = agentForSuite({ resolveModel, access: { isAllowedAddress: () => true } });
  /** The client of each agent, with its open model. */
  const places: (readonly [PredictClient, string])[] = [];
  let pictures: readonly Buffer[];
  let server: Server;
  let origin: string;
  before(async () => {
    pictures = await coloredPictures(3);
    server = createServer((request, response) => {
      const picture = pictures[Number(request.url?.slice(1))];
      if (picture !== undefined) response.end(picture);
      else if (request.url === '/text') response.end('no picture');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const { address } of [careful(), trusting()]) {
      const client = predictClient(address);
      places.push([client, await client.open('classifier')]);
    }
  });
  after(() => {
    for (const [client] of places) client.close();
    server.closeAllConnections();
    server.close();
  });

  async function withModel(place: number, work: (client: PredictClient, id: string) => Promise<void>): Promise<void> {
    const [client, id] = places[place] ?? assert.fail();
    await work(client, id);
  }

  test('they give the same features as their pictures', async () => {
    await withModel(1, async (client, id) => {
      const [fetched, sent] = [
        await client.urls(
          id,
          [0, 1, 2].map((i) => `${origin}/${i}`),
          { batchSize: 2 },
        ),
        await client.images(id, pictures),
      ].map(foundIn);
      assert.deepEqual(
        fetched?.map(({ inputId }) => inputId),
        ['0', '1', '2'],
      );
      assert.deepEqual(
        fetched?.map(({ features }) => features),
        sent?.map(({ features }) => features),
      );
    });
  });

  test('an agent fetches nothing from inside its network unless an option allows it', async () => {
    await withModel(0, async (client, id) => {
      const asked = client.urls(id, [`${origin}/0`]);
      await assertStatus(asked, status.INVALID_ARGUMENT, /points at this machine or inside of a network/);
    });
  });

  test('files are never read', async () => {
    await withModel(1, async (client, id) => {
      await assertStatus(client.urls(id, ['file:///etc/passwd']), status.INVALID_ARGUMENT, /neither http/);
    });
  });

  test('a URL without a picture and a URL that never answers are refused', async () => {
    await withModel(1, async (client, id) => {
      await assertStatus(client.urls(id, [`${origin}/text`]), status.INVALID_ARGUMENT, /input "0": expected/);
      await assertStatus(client.urls(id, []), status.INVALID_ARGUMENT, /urls is empty/);
      const options = { executionOptions: { timeoutInMs: 200n } };
      await assertStatus(client.urls(id, [`${origin}/never`], options), status.DEADLINE_EXCEEDED, /0\.2 s/);
      // Nothing ran, so the model is still open.
      assert.equal((await client.images(id, pictures)).responses.length, 3);
    });
  });
});
