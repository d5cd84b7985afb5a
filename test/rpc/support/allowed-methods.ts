import type { Role } from '../../../src/rpc/roles.js';

const EVALUATIONS = '/mlmodelscope.evaluation.v1.EvaluationService';
const ANALYSES = '/mlmodelscope.analysis.v1.AnalysisService';
const PLUGINS = '/mlmodelscope.evaluation.v1.PluginService';
const AGENTS = '/mlmodelscope.registry.v1.AgentRegistryService';
const REGISTRY = '/carml.org.dlframework.Registry';
const BENCHMARKS = '/mlmodelscope.benchmark.v1.BenchmarkService';
const LOADS = '/mlmodelscope.load.v1.LoadService';
const TRACES = '/mlmodelscope.trace.v1.TraceService';
const PREDICT = '/mlmodelscope.org.dlframework.Predict';
const PREDICTIONS = '/mlmodelscope.prediction.v1.PredictionService';

const READS = [
  `${EVALUATIONS}/FollowEvaluation`,
  `${EVALUATIONS}/GetEvaluation`,
  `${EVALUATIONS}/ListEvaluations`,
  `${EVALUATIONS}/ListPlugins`,
  `${ANALYSES}/RunAnalysis`,
  `${AGENTS}/ListAgents`,
  ...['FrameworkManifests', 'FrameworkAgents', 'ModelManifests', 'ModelAgents'].map((name) => `${REGISTRY}/${name}`),
  `${BENCHMARKS}/DescribeSystem`,
  `${PREDICTIONS}/DescribePredictor`,
];
const SUBMITS = [
  `${EVALUATIONS}/SubmitEvaluation`,
  `${EVALUATIONS}/CancelEvaluation`,
  ...['Open', 'Close', 'URLs', 'Images', 'Dataset', 'Reset'].map((name) => `${PREDICT}/${name}`),
  `${PREDICTIONS}/PredictEach`,
];
const REGISTERS = ['RegisterAgent', 'RenewAgent', 'UnregisterAgent'].map((name) => `${AGENTS}/${name}`);
const MEASURES = [
  `${PLUGINS}/Attach`,
  ...['InferTypes', 'Optimize', 'Measure', 'MeasureBricks', 'RunOnce'].map((name) => `${BENCHMARKS}/${name}`),
  ...['TraceBenchmark', 'TakeSpans'].map((name) => `${TRACES}/${name}`),
  `${LOADS}/Serve`,
];

/** The methods of the contract. */
export const ALL = [...READS, ...SUBMITS, ...REGISTERS, ...MEASURES];

/** What a token with a role allows, as docs/security.md has it. */
export const ALLOWED: Readonly<Record<Role, readonly string[]>> = {
  read: READS,
  submit: [...READS, ...SUBMITS],
  agent: REGISTERS,
  plugin: [...MEASURES, `${BENCHMARKS}/DescribeSystem`],
  full: ALL,
};

/** Methods that agents answer and servers do not; both predict. */
export function isForAgents(path: string): boolean {
  return [BENCHMARKS, LOADS, TRACES].some((service) => path.startsWith(service));
}
