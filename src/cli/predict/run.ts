import { surroundingsSchema } from '../../measurement/surroundings.js';
import {
  type AnsweredPrediction,
  type DescribedPredictor,
  type Prediction,
  connectPredictions,
} from '../../agent/client/prediction-client.js';
import { type Provenance, buildProvenance } from '../../agent/provenance.js';
import { counted } from '../../base/counted.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { EXIT_INTERRUPTED, EXIT_PARTIAL } from '../../base/exit-codes.js';
import type { OutputOptions, AgentOptions } from '../../command/options.js';
import { prepareOutputs, writeShown } from '../../command/outputs.js';
import type { TraceLevel } from '../../tracing/trace-level.js';
import type { OwnedHost } from '../host.js';
import { predictionLines } from './documents.js';
import type { ModelAsked } from './model-asked.js';
import { publish } from './publish.js';
import { predictionResult, predictionText } from './table.js';
import type { WantedPredictions } from './wanted.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import { onlyForAgentHere } from '../only-for-agent-here.js';

interface PlaceFlags extends AgentOptions {
  readonly server?: HostPort;
  readonly datasets?: string;
  readonly allowPrivateUrls?: true;
}

const LOCAL = { framework: '--framework', datasets: '--datasets', allowPrivateUrls: '--allow-private-urls' } as const;

function checkPlace(flags: PlaceFlags): void {
  const { server, agent } = flags;
  if (server !== undefined && agent !== undefined) {
    throw new PlatformError('usage', '--server picks an agent by itself; leave one of --agent and --server out');
  }
  if (server === undefined && agent === undefined) return;
  const keys = ['framework', 'datasets', 'allowPrivateUrls'] as const;
  const local = keys.find((key) => flags[key] !== undefined);
  if (local !== undefined) throw onlyForAgentHere(LOCAL[local], server === undefined ? '--agent' : '--server');
}

/** The options' agent or server, else an agent started here. @throws PlatformError `usage` for excluding options */
async function connectPredictor(flags: PlaceFlags, { path }: ModelAsked, host: OwnedHost) {
  checkPlace(flags);
  const { server, agent: address, framework, datasets, allowPrivateUrls } = flags;
  const options = { security: host.security.client };
  if (server !== undefined || address !== undefined) {
    const client =
      server === undefined
        ? connectPredictions(address ?? '', 'agent', options)
        : connectPredictions(formatHostPort(server), 'server', options);
    return { client, close: () => Promise.resolve(client.close()) };
  }
  // Loaded here, because predicting elsewhere needs no agent, and loading one takes as long as a short command.
  const { startCommandAgent } = await import('../start-agent.js');
  const access = { datasetsFolder: datasets, ...(allowPrivateUrls && { isAllowedAddress: () => true }) };
  const agent = await startCommandAgent({ framework, allowVersion: flags.allowVersion, manifest: path, access });
  const client = connectPredictions(agent.address, 'agent');
  return {
    client,
    close: async () => {
      client.close();
      await agent.close();
    },
  };
}

export interface PredictFlags extends PlaceFlags, OutputOptions {
  readonly model: string;
  readonly batchSize?: number;
  readonly top?: number;
  readonly traceLevel?: TraceLevel;
  readonly publish?: true;
  readonly store?: string;
}

const UNDESCRIBED = 'the agent does not describe itself';

/** Most bytes of predictions that one command keeps in memory. */
const MAX_HELD_BYTES = 2 ** 30;

function countBytes({ outcome }: Prediction): number {
  if (outcome.kind === 'failure') return outcome.message.length;
  return outcome.features.reduce((sum, feature) => {
    if (feature.kind === 'raw') return sum + feature.bytes.length;
    return sum + ('mask' in feature ? feature.mask.byteLength : 0);
  }, 0);
}

interface Outcome {
  readonly predictions: readonly Prediction[];
  readonly traceId: string;
  /** undefined where the model could not be opened, or nothing that has it is written. */
  readonly described: DescribedPredictor | undefined;
  readonly stoppedBy: Error | undefined;
}

async function predictAll(
  wanted: WantedPredictions,
  asked: ModelAsked,
  flags: PredictFlags,
  host: OwnedHost,
): Promise<Outcome> {
  const predictions: Prediction[] = [];
  let traceId = '';
  let described: DescribedPredictor | undefined;
  let total = wanted.total ?? 0;
  let heldBytes = 0;
  const progress = host.progress(flags.quiet ?? false);
  const { signal } = host;
  const { batchSize, top: featureLimit, traceLevel } = flags;
  const predictor = await connectPredictor(flags, asked, host);
  const { client } = predictor;
  try {
    progress.step('opening', 0, total, asked.modelName);
    const id = await client.open(asked, { batchSize, featureLimit, traceLevel }, signal);
    const onAnswer = (answer: AnsweredPrediction): void => {
      total = wanted.total ?? answer.total;
      traceId ||= answer.traceId;
    };
    try {
      if (flags.publish !== undefined) described = await client.describe(id, signal);
      // An agent of an earlier version may not describe itself.
      else if (flags.exportJson !== undefined) described = await client.describe(id, signal).catch(() => undefined);
      for await (const prediction of wanted.predict({ id, client, batchSize: batchSize ?? 1, signal, onAnswer })) {
        predictions.push(prediction);
        heldBytes += countBytes(prediction);
        if (heldBytes > MAX_HELD_BYTES) {
          const problem = `the predictions take more than ${MAX_HELD_BYTES} bytes`;
          throw new PlatformError('exhausted', `${problem}; give fewer inputs at a time`);
        }
        progress.step('predicting', predictions.length, total, prediction.inputId);
      }
    } finally {
      // Where this fails, the agent closes the model by itself.
      await client.closeModel(id).catch(() => undefined);
    }
    return { predictions, traceId, described, stoppedBy: undefined };
  } catch (error) {
    return { predictions, traceId, described, stoppedBy: error instanceof Error ? error : new Error(messageOf(error)) };
  } finally {
    progress.stop();
    await predictor.close();
  }
}

function provenanceOfPredictions(
  { modelName, identity, weights: ranWith, source }: ModelAsked,
  described: DescribedPredictor | undefined,
): Provenance {
  const { decoder } = described ?? {};
  const surroundings = decoder === undefined ? undefined : surroundingsSchema.parse({ decoder });
  return buildProvenance({
    models: [{ name: modelName, identity, ranWith, source: source && { kind: source } }],
    agent: described && { description: { ...described.system, host: described.hostname, surroundings } },
    reasons: { protocol: 'predictions are not timed', ...(described ? {} : { host: UNDESCRIBED, stack: UNDESCRIBED }) },
  });
}

/** An error keeps the predictions before it. @throws PlatformError the error that ended them, except an interruption */
export async function predict(
  wanted: WantedPredictions,
  asked: ModelAsked,
  flags: PredictFlags,
  host: OwnedHost,
): Promise<void> {
  const outputs = await prepareOutputs(flags);
  if (flags.store !== undefined && flags.publish === undefined) {
    throw new PlatformError('usage', '--store is where --publish stores predictions; give both');
  }
  const store = flags.publish === undefined ? undefined : await host.openStore(flags.store);
  if (asked.warning !== undefined) host.warn(`warning: ${asked.warning}`);
  const { predictions, traceId, described, stoppedBy } = await predictAll(wanted, asked, flags, host);
  if (predictions.length === 0 && stoppedBy !== undefined) throw stoppedBy;
  const shown = {
    result: () => ({
      ...predictionResult(predictions, traceId),
      warnings: asked.warning === undefined ? [] : [asked.warning],
    }),
    jsonLines: () => predictionLines(predictions, provenanceOfPredictions(asked, described)),
    text: ({ width }: { readonly width: number | undefined }) => predictionText(predictions, traceId, width),
  };
  await writeShown(shown, outputs, host);
  if (store !== undefined && described !== undefined) {
    const evaluation = await publish(store, { predictions, described, dataset: wanted.dataset, traceId });
    if (!outputs.quiet) host.warn(`published as the evaluation ${evaluation}`);
  }
  if (predictions.some(({ outcome }) => outcome.kind === 'failure')) host.setExitCode(EXIT_PARTIAL);
  if (stoppedBy === undefined) return;
  if (!host.signal.aborted) throw stoppedBy;
  host.warn(`interrupted; ${counted(predictions.length, 'input is', 'inputs are')} done`);
  host.setExitCode(EXIT_INTERRUPTED);
}
