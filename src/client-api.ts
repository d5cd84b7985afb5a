/** Other packages import it as `dlbricks/client`. */
export { messageOf, PlatformError, type ErrorCode } from './base/errors.js';

export {
  connectEvaluations,
  type EvaluationClient,
  type EvaluationClientOptions,
} from './evaluation/client/evaluation-client.js';
export type { PluginSummary } from './evaluation/link/link.js';
export type { FinalEvent, LoggedEvent, PlatformEvent } from './evaluation/event.js';
export { type LoadedSubmission, type Submission, submissionOf } from './evaluation/submission.js';
export type { EvaluationSummary } from './evaluation/records.js';

export { connectAgent } from './agent/client/agent-client.js';
export type { BenchmarkAgent, MeasuredRequest, MeasureRequest } from './agent/benchmark-agent.js';
export type { Benchmark } from './measurement/benchmark.js';
export type { Measurement } from './measurement/measurement.js';
export type { Limits, Protocol } from './measurement/protocol.js';
export type { RunOptions, System } from './measurement/system.js';
export { weightlessBenchmark } from './measurement/weightless.js';

export type { RpcClientOptions } from './rpc/client.js';
export type { ClientSecurity, Identity } from './rpc/security.js';
