/** Everything else in this folder is internal. */
export { type AgentChoice, isOneAgent, ONE_AGENT } from './agents.js';
export { verifyChecksum } from './checksum.js';
export type { DatasetManifest } from './dataset.js';
export {
  agentChoiceOf,
  DEFAULT_LIMITS,
  DEFAULT_PROTOCOL,
  type EvaluationManifest,
  limitsOf,
  protocolOf,
} from './evaluation.js';
export { ANY_FRAMEWORK, type FrameworkConstraint, frameworkText, type ModelFramework } from './fields.js';
export { graphBindings } from './graph-bindings.js';
export type { HardwareConstraint, HardwareManifest } from './hardware.js';
export { identifyManifest, type ManifestIdentity } from './identity.js';
export { kindJsonSchema, loadManifest, MANIFEST_KINDS, type ManifestKind, type ManifestOf, takenBy } from './load.js';
export { BATCH, type Checksum, type ModelManifest, type ModelTensor } from './model.js';
export {
  formatNote,
  formatProblem,
  type Loaded,
  manifestError,
  type Note,
  orThrow,
  type Problem,
  type Problems,
} from './problem.js';
export {
  type Candidate,
  FRAMEWORK_REMEDY,
  findRemedies,
  meetsFramework,
  type Requirements,
  requirementsOf,
  unmetByModel,
  type UnmetRequirement,
  unmetRequirements,
} from './requirements.js';
export { referredManifests, type ResolvedEvaluation, resolveEvaluation } from './resolve-evaluation.js';
export {
  fetchCommand,
  type GraphSource,
  type ResolvedModel,
  resolveModel,
  type ResolveOptions,
} from './resolve-model.js';
export type { SoftwareConstraint, SoftwareManifest } from './software.js';
export { pluginSettings } from './plugin-settings.js';
export { inputValues } from './input-values.js';
export { shippedManifest } from './shipped-manifest.js';
