import { connectPredictions } from '../../agent/client/prediction-client.js';
import { PlatformError } from '../../base/errors.js';
import { featureRows, resultText, shortNumber } from '../../processing/feature-rows.js';
import { hasMadeUpWeights, MADE_UP } from '../../registry/made-up-weights.js';
import type { WebSources } from './site-data.js';

const MAX_FEATURES = 10;

/** @throws PlatformError `not_found` where the agent is not registered; the agent's errors */
export async function predictPicture(
  { model, agent: address, picture }: { readonly model: string; readonly agent: string; readonly picture: Uint8Array },
  { agents, agentSecurity }: Pick<WebSources, 'agents' | 'agentSecurity'>,
  signal: AbortSignal,
) {
  const agent = agents.list().find((one) => one.address === address);
  if (agent === undefined) {
    throw new PlatformError('not_found', 'no agent is registered at this address; choose one of the list');
  }
  const warning = hasMadeUpWeights(agent.models, model)
    ? `the weights of ${model} ${MADE_UP}; choose a model whose file has real weights`
    : null;
  const { tls, accessToken } = agent;
  // An agent gets its own token only, as for predictions that the server forwards.
  const security = { ...agentSecurity, token: accessToken || undefined };
  const client = connectPredictions(address, 'agent', { security, tls });
  try {
    const asked = { modelName: model, modelVersion: '', frameworkName: '', frameworkVersion: '' };
    const id = await client.open(asked, { featureLimit: MAX_FEATURES }, signal);
    try {
      const images = [{ id: 'picture', data: Buffer.from(picture) }];
      for await (const { outcome, batch } of client.predictEach(id, { $case: 'images', value: { images } }, signal)) {
        if (outcome.kind === 'failure') throw new PlatformError('usage', outcome.message);
        const rows = outcome.features.flatMap(featureRows).slice(0, MAX_FEATURES);
        return {
          rows: rows.map((row) => {
            const score = row.score === null ? '' : shortNumber(row.score);
            return { result: resultText(row), score, details: row.details };
          }),
          warning,
          milliseconds: batch?.inferenceMs ?? null,
        };
      }
      throw new PlatformError('internal', 'the agent gave no prediction');
    } finally {
      await client.closeModel(id).catch(() => undefined);
    }
  } finally {
    client.close();
  }
}
