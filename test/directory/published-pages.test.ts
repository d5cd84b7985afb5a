import { Client, credentials, Metadata } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { type ModelManifestsResponse, RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import { platformModels } from './support/models.js';
import { offer } from './support/offer.js';
import { registryServer } from './support/registry-server.js';

/** The manifests of this many agents take 4 MiB together. */
const AGENTS = 20;
const MODELS_EACH = 50;
const DESCRIPTION = 'd'.repeat(4000);

const ANY = { frameworkName: '', frameworkVersion: '', modelName: '', modelVersion: '' };

/** Reads a page with a client that takes 4 MiB, the default of gRPC's clients. */
async function page(t: TestContext, address: string, token: string) {
  const client = new Client(address, credentials.createInsecure());
  t.after(() => client.close());
  const { path, requestSerialize, responseDeserialize } = RegistryService.modelManifests;
  const asked = new Metadata();
  if (token !== '') asked.set('page-token', token);
  let next = '';
  const answer = await new Promise<ModelManifestsResponse>((resolve, reject) => {
    client
      .makeUnaryRequest(path, requestSerialize, responseDeserialize, ANY, asked, (error, response) => {
        if (error === null && response !== undefined) resolve(response);
        else reject(error ?? new Error('no answer'));
      })
      .on('metadata', (metadata: Metadata) => (next = String(metadata.get('next-page-token')[0] ?? '')));
  });
  return { names: answer.manifests.map(({ name }) => name), next };
}

it('the published registry gives more models than fit into a message page by page, each once, in the order of names', async (t) => {
  const { directory, address } = await registryServer(t);
  const [some = assert.fail()] = await platformModels();
  const nameOf = (number: number): string => `model-${String(number).padStart(4, '0')}`;
  for (let agent = 0; agent < AGENTS; agent++) {
    const models = Array.from({ length: MODELS_EACH }, (_, i) => {
      return { ...some, name: nameOf(i * AGENTS + agent), description: DESCRIPTION };
    });
    // A second agent has the same models.
    for (const port of [7000 + agent, 8000 + agent]) directory.register(offer({ address: `10.0.0.1:${port}`, models }));
  }
  const pages: (readonly string[])[] = [];
  let token = '';
  do {
    const { names, next } = await page(t, address, token);
    pages.push(names);
    token = next;
  } while (token !== '');
  assert.ok(pages.length > 1);
  assert.deepEqual(
    pages.flat(),
    Array.from({ length: AGENTS * MODELS_EACH }, (_, number) => nameOf(number)),
  );
});
