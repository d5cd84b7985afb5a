import { RegistryDefinition } from '../generated/carml/org/dlframework/registry.js';
import { AnalysisServiceDefinition } from '../generated/mlmodelscope/analysis/v1/analysis.js';
import { BenchmarkServiceDefinition } from '../generated/mlmodelscope/benchmark/v1/benchmark.js';
import { EvaluationServiceDefinition } from '../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { PluginServiceDefinition } from '../generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { LoadServiceDefinition } from '../generated/mlmodelscope/load/v1/load.js';
import { PredictDefinition } from '../generated/mlmodelscope/org/dlframework/predictor.js';
import { PredictionServiceDefinition } from '../generated/mlmodelscope/prediction/v1/prediction.js';
import { AgentRegistryServiceDefinition } from '../generated/mlmodelscope/registry/v1/registry.js';
import { TraceServiceDefinition } from '../generated/mlmodelscope/trace/v1/trace.js';

/**
 * By the `idempotency_level` in the contract. A `read` changes and costs nothing, so it needs no token. An `idempotent`
 * method may be called again if the first answer was lost.
 */
export type MethodKind = 'read' | 'idempotent' | 'write';

interface ServiceDefinition {
  readonly fullName: string;
  readonly methods: Readonly<
    Record<
      string,
      { readonly name: string; readonly options: { readonly idempotencyLevel?: keyof typeof KINDS_BY_LEVEL } }
    >
  >;
}

const KINDS_BY_LEVEL = { NO_SIDE_EFFECTS: 'read', IDEMPOTENT: 'idempotent' } as const;

const SERVICES: readonly ServiceDefinition[] = [
  AgentRegistryServiceDefinition,
  AnalysisServiceDefinition,
  BenchmarkServiceDefinition,
  EvaluationServiceDefinition,
  LoadServiceDefinition,
  PluginServiceDefinition,
  PredictDefinition,
  PredictionServiceDefinition,
  RegistryDefinition,
  TraceServiceDefinition,
];

/** Their contracts state no idempotency level. */
const STANDARD_READS: readonly string[] = [
  '/grpc.health.v1.Health/Check',
  '/grpc.health.v1.Health/List',
  '/grpc.health.v1.Health/Watch',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
];

const KINDS: ReadonlyMap<string, MethodKind> = new Map([
  ...STANDARD_READS.map((path): [string, MethodKind] => [path, 'read']),
  ...SERVICES.flatMap(({ fullName, methods }) =>
    Object.values(methods).map(({ name, options: { idempotencyLevel: level } }): [string, MethodKind] => {
      return [`/${fullName}/${name}`, level === undefined ? 'write' : KINDS_BY_LEVEL[level]];
    }),
  ),
]);

/** @param path as `/package.Service/Method`; an unknown method is a write */
export function methodKind(path: string): MethodKind {
  return KINDS.get(path) ?? 'write';
}

export function repeatableMethods(): readonly string[] {
  return [...KINDS].filter(([, kind]) => kind !== 'write').map(([path]) => path);
}
