/** docs/plugins.md describes each part. */

// What a document is of
export { type Origin, type Provenance, provenanceField, buildProvenance } from './agent/provenance.js';
export { stackText, toSystemDocument, systemDocumentSchema } from './measurement/system-document.js';
export type { ManifestIdentity } from './manifest/identity.js';

// A plugin, and its evaluation
export type { CommandHost, Plugin } from './evaluation/plugin.js';
export type { EstimatedBricks } from './measurement/estimated-bricks.js';
export type {
  Achieved,
  Evaluation,
  EvaluationContext,
  EvaluationRequest,
  ShownResult,
  ShowOptions,
} from './evaluation/evaluation.js';
export type { EvaluationEvent } from './evaluation/event.js';
export { whileTelling } from './evaluation/while-telling.js';
export { setSpanModels, setSpanFramework, noteTrace } from './evaluation/span-attributes.js';
export { loadEvaluation } from './registry/load-evaluation.js';

// Analyses
export type { Analysis, AnalysisTable, ReadableStore } from './evaluation/analysis.js';

// Settings and errors
export { z } from 'zod';
export { messageOf, PlatformError } from './base/errors.js';
export { EXIT_INTERRUPTED, EXIT_PARTIAL, EXIT_REFUSED } from './base/exit-codes.js';
export { measuringContext, setMeasuringExit } from './command/measuring-command.js';
export { batchSizeField, DEFAULT_LIMITS, dimensionAxesField } from './manifest/evaluation.js';
export { kindOfManifest } from './manifest/load.js';
export { isManifestPath, parseModelReference } from './manifest/reference.js';
export { findRemedies } from './manifest/requirements.js';
export { schemaProblems } from './base/schema-problems.js';
export { DEFAULT_REMEASURE, type Remeasure, remeasureAsked, remeasureSetting } from './measurement/remeasure.js';

// Commands
export {
  addAgentOptions,
  addAllowVersionOption,
  addBatchOption,
  addInputOptions,
  addProtocolOptions,
  addQuietOption,
  addStoreOption,
  addSweepInputOptions,
  addRuntimeOptions,
  addSweepOptions,
  addTableOptions,
  addThreadsOption,
  addWideOption,
  type AgentOptions,
  askedProtocol,
  COMMAND_DEFAULTS,
  type InputOptions,
  type OutputOptions,
  type ProtocolOptions,
  parseRuntime,
  type SweepInputOptions,
  type SweepOptions,
  addLogOption,
  addReuseOptions,
  type LogOption,
  type ReuseOptions,
} from './command/options.js';
export { durationOption, listOption, numberOption, percentOption, wholeNumberOption } from './base/option-value.js';
export { threadsSchema } from './base/default-threads.js';
export { numberFrom, numberIn, positiveNumber, wholeNumber } from './base/bounded-number.js';
export { checkInputs, loadBatches, loadModels, runsOn } from './command/load-models.js';
export { requireFitMachine } from './command/doctor/machine.js';
export { showEvent } from './evaluation/show-event.js';

// Tables, texts and files
export { prepareOutputs, type Shown, writeExports, writeShown } from './command/outputs.js';
export { shownTable } from './command/keyed-table.js';
export type { TableResult } from './base/exporters/exporter.js';
export type { Page, PageSection } from './base/exporters/page.js';
export {
  drawn,
  type Histogram,
  histogramChart,
  icicleChart,
  type PartOfTime,
  partsByKind,
  rangeChart,
} from './web/charts.js';
export { type DrawnGraph, graphDot, graphSvg } from './web/plots/graph-plot.js';
export { heatMapSvg } from './web/plots/heat-map.js';
export { linePlot, type Series } from './web/plots/line-plot.js';
export { rangePlot } from './web/plots/range-plot.js';
export { type Column, left, right, textTable } from './base/text-table.js';
export { scatterPlot } from './web/plots/scatter-plot.js';
export { fittingTable, leftOutLines } from './base/fitting-table.js';
export { counted } from './base/counted.js';
export { formatMs, UNKNOWN } from './base/format-ms.js';
export { gigabytes } from './base/gigabytes.js';
export { inPercent } from './base/in-percent.js';
export { listed } from './onnx/model/node-label.js';
export { shortIds } from './base/short-ids.js';
export { oneLine } from './base/one-line.js';
export { oneOf } from './base/one-of.js';
export { wrap } from './base/wrap.js';
export { differences } from './base/differences.js';
export { DisjointSets } from './base/disjoint-sets.js';
export { distinctByContent } from './base/distinct-by-content.js';
export { groupedBy } from './base/grouped-by.js';
export { combine, isFirstOf } from './base/combinations.js';
export { ownValue } from './base/own-value.js';
export { finite } from './base/finite.js';
export { mean, median } from './base/mean.js';
export { append, hypotOf, maxOf, minOf } from './base/long-lists.js';
export { sumOf } from './base/sum-of.js';
export { tableOfNames } from './base/table-of-names.js';
export { makeFolder } from './base/make-folder.js';
export { readRegularFile } from './base/regular-file.js';
export { readJsonFile } from './base/json-file.js';
export { requireWritable, writeResult } from './base/output-file.js';
export { writeFileAtomically } from './base/atomic-file.js';
export { snakePath, withCamelKeys, withSnakeKeys } from './base/snake-case.js';

// Models and their graphs
export { CACHE_SYMBOLS, changeableBatch, type LoadedModel } from './registry/load-model.js';
export { dimensionsText } from './registry/dimensions-text.js';
export { withSizes } from './registry/with-sizes.js';
export { checkDimensions } from './registry/check-dimensions.js';
export { type UnusableModel, unusableModel } from './registry/unusable-model.js';
export type { DeclaredType, InputValues, Model, Node, Tensor, TensorType } from './onnx/model/model.js';
export { MAX_LISTED_VALUES } from './onnx/model/model.js';
export { parseModel } from './onnx/read/read-model.js';
export { encodeModelToBytes } from './onnx/write/write-model.js';
export {
  countLayers,
  type InferredValue,
  isCompletelyTyped,
  layerGraph,
  type LayerGraph,
} from './onnx/layers/layer-graph.js';
export {
  CLASS_VALUES,
  decidesTime,
  classesInFloat32,
  valueClasses,
  valuesOfClass,
  withClassesOfConstants,
} from './onnx/layers/value-classes.js';
export { anonymousAttributes, type Renaming, sortedAttributes } from './onnx/layers/rename-subgraphs.js';
export { nestedNodes } from './onnx/model/nested-nodes.js';
export { readNames, hasSubgraphs } from './onnx/model/subgraphs.js';
export { isStandard, normalizeDomain } from './onnx/model/opsets.js';
export { int as intAttribute } from './onnx/model/make-attributes.js';
export { isDefaultAttribute } from './onnx/operators/default-attributes.js';
export { isReorder, type KernelsOfLayers, layersOfKernels, namesOfKernel } from './onnx/layers/layers-of-kernels.js';
export { type TotalWork, totalWork, type WorkOfLayer, workOfLayers } from './onnx/layers/work-of-layers.js';
export { multiplyAccumulates } from './onnx/operators/multiply-accumulates.js';
export { countOperations, totalOperations } from './onnx/operators/operations.js';
export { findMeaning, findOldestOpset } from './onnx/operators/operator-versions.js';
export { steeringConstants } from './onnx/operators/steering.js';
export { largestLayer, type MemoryNeed, needOfGraph } from './onnx/layers/memory-need.js';
export { constantValues, isRandom } from './onnx/model/constant-values.js';
export { readsShapeOnly, findSteeringValues, steeringNames } from './onnx/operators/steering-values.js';

// Reference logs
export { requireLoggable, type RunToLog, runtimeIn, writeLog } from './reference-log/write-log.js';
export type { Log } from './reference-log/log-schema.js';
export { editedSections, readLog } from './reference-log/read-log.js';
export { listOutputNames, topOf } from './reference-log/run-outputs.js';
export { OUTPUT_VERDICTS, TOLERANCE, worst } from './reference-log/verdicts.js';

// Pictures
export {
  elementsOfPicture,
  madeUpPicture,
  pictureAt,
  type PictureInput,
  makePictureInput,
  withPicture,
} from './registry/picture-input.js';
export type { Image } from './processing/image.js';
export type { ImageSteps } from './manifest/steps.js';

// Types and values of tensors
export {
  computeByteLength,
  elementCount,
  ELEMENT_TYPES,
  type ElementType,
  isElementType,
  isPacked,
  tensorBytes,
  UNPACKED,
} from './onnx/model/element-type.js';
export { findStaticType } from './onnx/model/static-type.js';
export { contentValues } from './onnx/values/content-values.js';
export { fanIn } from './onnx/values/fill-range.js';

// Measuring
export type { BenchmarkAgent, MachineSpread, MeasureRequest, Reach } from './agent/benchmark-agent.js';
export { type AgentDescription, isAbleTo } from './agent/agent-description.js';
export { isOfMachine } from './agent/spread/machines.js';
export {
  DEFAULT_RUNTIME,
  idleSettings,
  listSessionEntries,
  optimizerText,
  type RuntimeAxes,
  type RuntimeSettings,
  runtimeSettings,
  runtimeText,
  combineRuntimes,
  SESSION_KEYS,
  sessionProblem,
  sessionSchema,
} from './measurement/runtime-settings.js';
export {
  identifySystem,
  optimizedRun,
  optimizingRun,
  type RunOptions,
  buildRunOptions,
  type System,
  type SystemFacts,
} from './measurement/system.js';
export { systemDifferences } from './measurement/system-differences.js';
export { SOFTWARE_FACTS } from './measurement/surroundings.js';
export { isOutermost } from './measurement/kernel-facts.js';
export { type Benchmark, type BenchmarkInput, inputBytes } from './measurement/benchmark.js';
export {
  modelFromBenchmark,
  computeSignature,
  signatureWithoutName,
  weightlessBenchmark,
} from './measurement/weightless.js';
export { symbolicBenchmark } from './measurement/symbolic-benchmark.js';
export type { RunValue } from './agent/run-value.js';
export { wholeBenchmark, withOwnWeights } from './agent/own-weights.js';
export { memoryProblem, memoryThere } from './agent/memory-there.js';
export { type Limits, type Protocol, protocolDifferences, protocolKey } from './measurement/protocol.js';
export { distinctTasks, type Task, taskKey } from './measuring/task.js';
export { type MeasuringPlan, planMeasuring } from './measuring/measuring-plan.js';
export { Measuring, type MeasuringContext } from './measuring/measuring.js';
export { RunProgress } from './measuring/run-progress.js';
export { SharedClock } from './base/shared-clock.js';
export { knownResults, KnownResults, type Wanted } from './measuring/known-results.js';
export { FRAMEWORK_NAMES, type FrameworkName } from './predictor/frameworks.js';
export { runnableFile } from './predictor/runnable-file.js';
export { shellQuoted } from './base/shell-quoted.js';
export { isRuntimePackage, type RuntimePackage, findRuntimePackage } from './predictor/runtime-package.js';
export { type Both, measurePaired, type Pair } from './measuring/measure-paired.js';
export { type PairedConfidence, pairedRatio, type PairedTimes } from './measuring/paired-ratio.js';
export { readMachineSpread } from './measuring/machine-spread.js';
export { type Peaks, computeRidge, storedPeaks } from './measuring/machine-peaks.js';
export {
  currentEstimates,
  estimatedSystems,
  estimatedParts,
  keepEstimates,
  type KeptEstimate,
  type NewEstimate,
} from './measuring/estimates.js';

// Measurements
export {
  type Context,
  type Measurement,
  problemWithTimes,
  setupKey,
  storedMeasurementSchema,
  subjectKey,
} from './measurement/measurement.js';
export { xoshiro128pp } from './base/random.js';
export { factorOfSums, latencyOfOutcome, TRIM, trimmed, trimmedMean } from './measurement/trimmed-mean.js';
export { studentWidth, Z_95 } from './measurement/student.js';
export { assertEnoughCores } from './measurement/enough-cores.js';
export { usedCores } from './measurement/used-cores.js';
export { disturbanceOf, isDisturbed, MIN_OTHERS_MS, sharedShareOf } from './measurement/disturbance.js';
export { measurementWarnings, type NoiseWarning } from './measurement/noise.js';

// Several bricks in one graph
export { buildComposite, spelledOut } from './composite/composite.js';
export { ASSUMED_CACHE_BYTES, footprintClass, isColdFootprint } from './composite/footprint.js';
export { GATHERING } from './composite/read-operators.js';
export { isProducible, Producers } from './composite/producers.js';
export { protocolOfComposite } from './composite/protocol-of-composite.js';

// The store
export type { ResultStore } from './store/result-store.js';
export type { CollectionDefinition } from './store/collection.js';
export { unlessUnavailable } from './store/unless-unavailable.js';
export { EVALUATION_DOCUMENTS } from './platform-documents/documents.js';
export { keepEvaluated } from './platform-documents/keep-evaluated.js';
export { keepWholeModel } from './platform-documents/keep-whole-model.js';

// Traces of other tools
export type { MeasuredLayer, TracedModel } from './foreign-traces/collect-models.js';
export { readTrace, TRACE_FORMATS, type TraceFormat } from './foreign-traces/read-trace.js';
export type { TracedLayer, TracedTensor } from './foreign-traces/trace-record.js';
export { nameOf } from './traced/model-name.js';
export {
  layersOfTrace,
  readStoredTraces,
  type StoredLayer,
  type StoredModel,
  storedSystems,
  storedTraces,
  storeTraces,
} from './traced/traced-models.js';

// Load: queries that arrive over time
export { type BatchLine, type BatchTime, batchCurve, interpolated, lineThrough } from './load/batch-curve.js';
export { NO_BATCHING } from './load/batcher.js';
export { type Bound, BOUND_EXAMPLES, parseBound } from './load/bound.js';
export { leastQueries, nearestRank, wholeFrom } from './load/percentiles.js';
export { offeredRate, poissonArrivals } from './load/schedule.js';
export { largestRate, type RateSearching, type RateTrial, searchRate } from './load/search.js';
export { type ServiceTimes, simulateTrial } from './load/simulate.js';
export { PERCENTILES, summarizeTrial, type TrialSummary } from './load/summary.js';
export {
  DISPATCHES,
  MAX_OUTSTANDING,
  MAX_QUERIES,
  type Plan,
  type QueryRecord,
  type SentQuery,
  type TrialOptions,
} from './load/trial.js';
export { standInModel } from './generator/stand-in.js';
export type { ServingEnd } from './agent/client/serving-client.js';
export type { DeployedModel, TargetSpec } from './generator/messages.js';
export { type LoadGenerator, type RanTrial, startGenerator } from './generator/start.js';
