import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PlatformError } from '../../base/errors.js';
import { agentOfferSchema } from '../../directory/agent-offer.js';
import { platformEventSchema } from '../../evaluation/event.js';
import { type EvaluationRecord, evaluationSchema } from '../../evaluation/records.js';
import { encodeSubmission } from '../../evaluation/wire/submission-wire.js';
import { measurementSchema } from '../../measurement/measurement.js';
import { systemSchema } from '../../measurement/system.js';
import { estimateHistory, estimateSchema } from '../../measuring/estimates.js';
import type { Asked, Operation } from './operation.js';
import { predictPicture } from './predict.js';
import { publicAgent, selected, type SharedEstimates, type WebSources } from './site-data.js';

const EVALUATIONS = '/mlmodelscope.evaluation.v1.EvaluationService';
export const READ = `${EVALUATIONS}/GetEvaluation`;
export const SUBMIT = `${EVALUATIONS}/SubmitEvaluation`;
export const CANCEL = `${EVALUATIONS}/CancelEvaluation`;
const LIST_AGENTS = '/mlmodelscope.registry.v1.AgentRegistryService/ListAgents';
export const PREDICT = '/mlmodelscope.prediction.v1.PredictionService/PredictEach';

const MANIFEST_PATH = 'evaluation.yml';

/** Files that a form sends. The command line sends graphs without weights, and more of them. */
const MAX_FILES = 100;

const hash = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits');
const id = z.string().regex(/^[A-Za-z0-9-]{8,64}$/, 'expected 8 to 64 letters, digits and hyphens');
const text = z.string().max(1000).optional();
const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/, 'expected base64');

function toPublicEvaluation({ id, name, plugin, state, submittedAt, changedAt }: EvaluationRecord) {
  return { id, name, plugin, state, submittedAt, changedAt };
}

const publicAgentSchema = z.strictObject({
  ...agentOfferSchema.shape,
  models: z.array(z.strictObject({ name: z.string(), version: z.string() })),
  registeredAt: z.string(),
});

export const submissionSchema = z.strictObject({
  id: id.optional().describe('Made by the client, so that it may repeat a request; by default a new one'),
  manifest: z.record(z.string(), z.unknown()).describe('An evaluation manifest'),
  files: z
    .array(z.strictObject({ path: z.string().min(1).max(300), base64 }))
    .max(MAX_FILES)
    .default([])
    .describe('ONNX files and model manifests that it names'),
});

export const predictionSchema = z.strictObject({
  model: z.string().min(1).max(300),
  agent: z.string().min(1).max(300).describe('Address of a registered agent'),
  picture: base64.min(1),
});

/** A submission as it goes over gRPC. @throws PlatformError `usage` */
export function encodeFiles({
  manifest,
  files,
}: Pick<z.output<typeof submissionSchema>, 'manifest' | 'files'>): ReturnType<typeof encodeSubmission> {
  const contents = new Map<string, Uint8Array>();
  for (const { path, base64: content } of files) {
    if (path === MANIFEST_PATH || contents.has(path)) {
      throw new PlatformError('usage', `files: two files are called ${path}; rename one`);
    }
    contents.set(path, Buffer.from(content, 'base64'));
  }
  contents.set(MANIFEST_PATH, Buffer.from(JSON.stringify(manifest)));
  return encodeSubmission({ manifestPath: MANIFEST_PATH, files: contents, graphs: new Map() });
}

/** The manifest came without a file, so that places in it mean nothing to the caller. */
function withoutPlaces(error: unknown): unknown {
  if (!(error instanceof PlatformError)) return error;
  const { code, message, cause } = error;
  return new PlatformError(code, message.replace(/^evaluation\.yml:\d+:\d+: /gm, ''), { cause });
}

/** @throws PlatformError `unauthenticated` for a caller without a token of a server that has one */
export function requireTrust(isTrusted: boolean): void {
  if (!isTrusted) throw new PlatformError('unauthenticated', 'results and measurements need a token of this server');
}

export function defineOperations(sources: WebSources, estimates: SharedEstimates): readonly Operation[] {
  const { platform, store, agents } = sources;
  return [
    {
      method: 'get',
      path: '/estimates',
      call: READ,
      summary: 'The newest estimate of each model on each system',
      query: { q: text, system: text, plugin: text, batch: text, model: text },
      answer: z.strictObject({ estimates: z.array(estimateSchema) }),
      run: async ({ query }) => ({ estimates: selected(await estimates.get(), query).estimates }),
    },
    {
      method: 'get',
      path: '/estimates/{subject}',
      call: READ,
      summary: 'The history of an estimate, the oldest first',
      params: { subject: hash },
      answer: z.strictObject({ history: z.array(estimateSchema) }),
      run: async ({ params: { subject = '' } }) => ({ history: await estimateHistory(store, subject) }),
    },
    {
      method: 'get',
      path: '/systems',
      call: READ,
      summary: 'The systems that have estimates',
      answer: z.strictObject({ systems: z.array(systemSchema) }),
      run: async () => ({ systems: [...(await estimates.get()).systems.values()] }),
    },
    {
      method: 'get',
      path: '/bricks/{signature}',
      call: READ,
      summary: 'All measurements of a brick or a whole model; with the token only, where the server has one',
      params: { signature: hash },
      answer: z.strictObject({ measurements: z.array(measurementSchema) }),
      run: async ({ params: { signature = '' }, isTrusted }) => {
        requireTrust(isTrusted);
        return { measurements: await store.measurementsOf(signature) };
      },
    },
    {
      method: 'get',
      path: '/evaluations',
      call: `${EVALUATIONS}/ListEvaluations`,
      summary: 'The newest 1000 evaluations, the newest first',
      answer: z.strictObject({ evaluations: z.array(evaluationSchema) }),
      run: async () => ({ evaluations: (await platform.list()).map(toPublicEvaluation) }),
    },
    {
      method: 'post',
      path: '/evaluations',
      call: SUBMIT,
      summary: 'Submits an evaluation; repeating the same under the same id changes nothing',
      body: submissionSchema,
      answer: evaluationSchema,
      run: async ({ body, signal }: Asked<z.output<typeof submissionSchema>>) => {
        const { id: asked = randomUUID(), manifest, files } = body;
        const submission = encodeFiles({ manifest, files });
        try {
          return toPublicEvaluation(await platform.submit(asked, submission, { signal, client: 'http' }));
        } catch (error) {
          throw withoutPlaces(error);
        }
      },
    },
    {
      method: 'get',
      path: '/evaluations/{id}',
      call: READ,
      summary: 'An evaluation and its last event, without its result',
      params: { id },
      answer: z.strictObject({ evaluation: evaluationSchema, lastEvent: platformEventSchema.nullable() }),
      run: async ({ params: { id: of = '' }, signal }) => {
        const { record, last } = await platform.get(of, signal);
        return { evaluation: toPublicEvaluation(record), lastEvent: last?.event ?? null };
      },
    },
    {
      method: 'get',
      path: '/evaluations/{id}/result',
      call: READ,
      summary: 'The result document of an evaluation; with the token only, where the server has one',
      params: { id },
      answer: z.unknown(),
      run: async ({ params: { id: of = '' }, signal, isTrusted }) => {
        requireTrust(isTrusted);
        const { last } = await platform.get(of, signal);
        if (last?.event.kind !== 'done') throw new PlatformError('not_found', 'the evaluation has no result');
        return readResult(platform, of, last, signal);
      },
    },
    {
      method: 'post',
      path: '/evaluations/{id}/cancel',
      call: CANCEL,
      summary: 'Ends an evaluation; its measurements are kept',
      params: { id },
      body: z.strictObject({}),
      answer: evaluationSchema,
      run: async ({ params: { id: of = '' } }) => toPublicEvaluation(await platform.cancel(of)),
    },
    {
      method: 'get',
      path: '/agents',
      call: LIST_AGENTS,
      summary: 'The registered agents',
      answer: z.strictObject({ agents: z.array(publicAgentSchema) }),
      run: () => Promise.resolve({ agents: agents.list().map(publicAgent) }),
    },
    {
      method: 'get',
      path: '/plugins',
      call: `${EVALUATIONS}/ListPlugins`,
      summary: 'The plugins that are attached, with the JSON Schema of their manifests',
      answer: z.strictObject({
        plugins: z.array(
          z.strictObject({
            name: z.string(),
            version: z.string(),
            manifestSchemaJson: z.string(),
            running: z.int(),
            slots: z.int(),
          }),
        ),
      }),
      run: () => Promise.resolve({ plugins: platform.plugins() }),
    },
    {
      method: 'post',
      path: '/predictions',
      call: PREDICT,
      summary: 'Predicts for a picture on a registered agent',
      body: predictionSchema,
      answer: z.strictObject({
        rows: z.array(z.strictObject({ result: z.string(), score: z.string(), details: z.string() })),
        warning: z.string().nullable().describe('That the rows mean nothing, because the weights are made up'),
        milliseconds: z.number().nullable().describe('Of the inference; null where the agent does not say it'),
      }),
      run: ({ body: { picture, ...asked }, signal }: Asked<z.output<typeof predictionSchema>>) =>
        predictPicture({ ...asked, picture: Buffer.from(picture, 'base64') }, sources, signal),
    },
  ];
}

/** The result of an evaluation that is done, as JSON. @throws PlatformError `not_found` where the store lost it */
export async function readResult(
  platform: WebSources['platform'],
  evaluation: string,
  last: Parameters<WebSources['platform']['openResult']>[1],
  signal: AbortSignal,
): Promise<Buffer> {
  const { json, close } = await platform.openResult(evaluation, last, { client: 'http', signal });
  close();
  if (json === undefined) throw new PlatformError('not_found', 'the store no longer has the result');
  return json;
}
