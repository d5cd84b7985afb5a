import { z } from 'zod';
import { distinctByContent } from '../base/distinct-by-content.js';
import { PLATFORM_VERSION } from '../base/platform-version.js';
import { withSnakeKeys } from '../base/snake-case.js';
import { MANIFEST_KINDS } from '../manifest/load.js';
import type { ManifestIdentity } from '../manifest/identity.js';
import type { Protocol } from '../measurement/protocol.js';
import type { SystemFacts } from '../measurement/system.js';
import { surroundingsSchema } from '../measurement/surroundings.js';
import { buildStack, stackSchema } from '../measurement/system-document.js';
import { signatureWithoutName } from '../measurement/weightless.js';
import type { Model } from '../onnx/model/model.js';
import type { LoadedModel } from '../registry/load-model.js';
import type { AgentDescription } from './agent-description.js';
import type { BenchmarkAgent } from './benchmark-agent.js';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const provenanceSchema = z.strictObject({
  tool: z.strictObject({ name: z.string(), version: z.string() }),
  created_at: z.iso.datetime().describe('When the document was made'),
  manifests: z.array(
    z.strictObject({
      kind: z.enum(MANIFEST_KINDS),
      name: z.string(),
      version: z.string(),
      sha256: sha256.describe('Of its file'),
    }),
  ),
  models: z.array(
    z.strictObject({
      name: z.string(),
      graph_sha256: sha256.nullable().describe('Of the graph without its name and its weights'),
      file_sha256: sha256.nullable().describe("Of the model's file, as its manifest or a lock file states it"),
      weights: z
        .enum(['own', 'made_up'])
        .nullable()
        .describe('Of runs of the whole model; bricks always have made-up weights'),
      source: z
        .enum(['file', 'zoo'])
        .nullable()
        .default(null)
        .describe('zoo: built in code, without a file; null in documents of earlier versions'),
    }),
  ),
  protocol: z
    .strictObject({ warmup_runs: z.int(), runs: z.int(), min_runs: z.int(), time_budget_ms: z.number() })
    .nullable()
    .describe('How often each benchmark was run'),
  host: z.string().nullable().describe("Name of the agent's host"),
  stack: stackSchema.nullable().describe('Machine and framework, as the agent found them'),
  surroundings: surroundingsSchema
    .nullable()
    .default(null)
    .describe("What the agent's process ran in; null where the agent could not read a fact"),
  reasons: z
    .record(z.string(), z.string())
    .describe('By the names of fields that are null: why, or which other part of the document has the fact'),
});

export type Provenance = z.infer<typeof provenanceSchema>;

export const provenanceField = provenanceSchema
  .nullable()
  .default(null)
  .describe('What the document is of; null in documents of earlier versions');

type Field = 'protocol' | 'host' | 'stack' | 'surroundings' | 'graph_sha256' | 'file_sha256' | 'weights' | 'source';

type Described = SystemFacts & Pick<AgentDescription, 'host' | 'surroundings'>;

/** A model that ran; without its graph where only the agent read it. */
type ModelOfOrigin = Pick<LoadedModel, 'name' | 'identity' | 'sha256' | 'weights'> & {
  readonly model?: Model;
  readonly ranWith?: 'own' | 'made_up' | undefined;
  readonly source?: Pick<NonNullable<LoadedModel['source']>, 'kind'> | undefined;
};

export interface Origin {
  readonly identities?: readonly ManifestIdentity[] | undefined;
  readonly models?: readonly ModelOfOrigin[] | undefined;
  readonly protocol?: Protocol | undefined;
  readonly agent?: (Pick<BenchmarkAgent, 'offerWeights'> & { readonly description: Described }) | undefined;
  /** Why facts are not known, or where else the document has them. */
  readonly reasons?: Readonly<Partial<Record<Field, string>>> | undefined;
}

const USUAL_REASONS: Readonly<Record<Field, string>> = {
  protocol: 'nothing was measured',
  host: 'no agent took part',
  stack: 'no agent took part',
  surroundings: 'no agent took part, or one of an earlier version',
  graph_sha256: 'the graph was not read',
  file_sha256: 'no manifest states the checksum of a file',
  weights: 'the agent does not say it',
  source: 'only the agent knows',
};

/** Weights of whole models: their files' own where the agent has the files. */
function weightsIn(agent: Origin['agent'], { ranWith, model, weights }: ModelOfOrigin): 'own' | 'made_up' | null {
  if (agent === undefined || model === undefined) return ranWith ?? null;
  return agent.offerWeights !== undefined && weights !== undefined ? 'own' : 'made_up';
}

/** The provenance of a document that is made now. A fact with a reason is left out. */
export function buildProvenance({ identities = [], models = [], protocol, agent, reasons = {} }: Origin): Provenance {
  const known = <Value>(field: Field, value: () => Value): Value | null => (field in reasons ? null : value());
  const ofModels = models.map((model) => ({
    name: model.name,
    graph_sha256: known('graph_sha256', () => (model.model === undefined ? null : signatureWithoutName(model.model))),
    file_sha256: known('file_sha256', () => model.sha256 ?? null),
    weights: known('weights', () => weightsIn(agent, model)),
    source: known('source', () => model.source?.kind ?? null),
  }));
  const fields = {
    protocol: known('protocol', () => (protocol === undefined ? null : withSnakeKeys(protocol))),
    host: known('host', () => agent?.description.host ?? null),
    surroundings: known('surroundings', () => agent?.description.surroundings ?? null),
    stack: known('stack', () => (agent === undefined ? null : buildStack(agent.description))),
  };
  const missing = [fields, ...ofModels].flatMap((part) => {
    return Object.entries(part).flatMap(([field, value]) => (value === null ? [field as Field] : []));
  });
  return {
    tool: { name: 'mlmodelscope', version: PLATFORM_VERSION },
    created_at: new Date().toISOString(),
    manifests: distinctByContent(
      [...identities, ...models.flatMap(({ identity }) => identity ?? [])].map(({ kind, name, version, sha256 }) => {
        return { kind, name, version, sha256 };
      }),
    ),
    models: distinctByContent(ofModels),
    ...fields,
    reasons: Object.fromEntries(missing.map((field) => [field, reasons[field] ?? USUAL_REASONS[field]])),
  };
}
