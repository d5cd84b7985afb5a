/**
 * - `read`: follow evaluations, read and analyze results, list agents, models and plugins
 * - `submit`: all of `read`; submit and cancel evaluations, and predict
 * - `agent`: register as an agent, and nothing else
 * - `plugin`: attach as a plugin, and measure on agents
 */
export const ROLES = ['read', 'submit', 'agent', 'plugin', 'full'] as const;

export type Role = (typeof ROLES)[number];

export type AllowedRoles = readonly Role[] | 'anyone';

const READERS: readonly Role[] = ['read', 'submit', 'full'];
const SUBMITTERS: readonly Role[] = ['submit', 'full'];
const AGENTS: readonly Role[] = ['agent', 'full'];
const PLUGINS: readonly Role[] = ['plugin', 'full'];

/** By service and method. Also the standard methods of every server. A test compares this list with the contract. */
const ROLES_OF_METHODS: Readonly<Record<string, Readonly<Record<string, AllowedRoles>>>> = {
  'mlmodelscope.evaluation.v1.EvaluationService': {
    SubmitEvaluation: SUBMITTERS,
    CancelEvaluation: SUBMITTERS,
    FollowEvaluation: READERS,
    GetEvaluation: READERS,
    ListEvaluations: READERS,
    ListPlugins: READERS,
  },
  'mlmodelscope.analysis.v1.AnalysisService': { RunAnalysis: READERS },
  'mlmodelscope.evaluation.v1.PluginService': { Attach: PLUGINS },
  'mlmodelscope.registry.v1.AgentRegistryService': {
    RegisterAgent: AGENTS,
    RenewAgent: AGENTS,
    UnregisterAgent: AGENTS,
    ListAgents: READERS,
  },
  'carml.org.dlframework.Registry': {
    FrameworkManifests: READERS,
    FrameworkAgents: READERS,
    ModelManifests: READERS,
    ModelAgents: READERS,
  },
  'mlmodelscope.benchmark.v1.BenchmarkService': {
    DescribeSystem: [...READERS, 'plugin'],
    InferTypes: PLUGINS,
    Optimize: PLUGINS,
    Measure: PLUGINS,
    MeasureBricks: PLUGINS,
    RunOnce: PLUGINS,
  },
  'mlmodelscope.load.v1.LoadService': { Serve: PLUGINS },
  'mlmodelscope.trace.v1.TraceService': { TraceBenchmark: PLUGINS, TakeSpans: PLUGINS },
  'mlmodelscope.org.dlframework.Predict': {
    Open: SUBMITTERS,
    Close: SUBMITTERS,
    URLs: SUBMITTERS,
    Images: SUBMITTERS,
    Dataset: SUBMITTERS,
    Reset: SUBMITTERS,
  },
  'mlmodelscope.prediction.v1.PredictionService': { PredictEach: SUBMITTERS, DescribePredictor: READERS },
  'grpc.health.v1.Health': { Check: 'anyone', List: 'anyone', Watch: 'anyone' },
  'grpc.reflection.v1.ServerReflection': { ServerReflectionInfo: 'anyone' },
  'grpc.reflection.v1alpha.ServerReflection': { ServerReflectionInfo: 'anyone' },
};

const ALLOWED: ReadonlyMap<string, AllowedRoles> = new Map(
  Object.entries(ROLES_OF_METHODS).flatMap(([service, methods]) => {
    return Object.entries(methods).map(([method, roles]) => [`/${service}/${method}`, roles] as const);
  }),
);

export const METHODS_WITH_ROLES: readonly string[] = [...ALLOWED.keys()];

export function rolesFor(path: string): AllowedRoles {
  return ALLOWED.get(path) ?? ['full'];
}
