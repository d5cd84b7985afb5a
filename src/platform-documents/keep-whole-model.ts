import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { measurementKey, type Measurement } from '../measurement/measurement.js';
import type { System } from '../measurement/system.js';
import { measurementId } from '../store/measurement-id.js';
import type { ResultStore } from '../store/result-store.js';
import {
  EVALUATION_DOCUMENTS,
  PERFORMANCE_DOCUMENTS,
  type EvaluationDocument,
  type PerformanceDocument,
} from './documents.js';
import type { JaegerDocument } from '../tracing/jaeger-document.js';
import { jaegerTrace, type PlainSpan } from './jaeger-trace.js';

/** A model that was measured end to end. */
export interface WholeModel {
  readonly name: string;
  readonly batchSize: number;
  readonly measurement: Measurement;
}

/** A model is measured whole at this level: predictions, nothing below. */
const TRACE_LEVEL = 'MODEL_TRACE';

/** Version of a model without a manifest: the first version of the platform's models. */
const MODEL_VERSION = '1.0';

/**
 * Stores a model that was measured end to end in the platform's form: an `evaluation`, and a `performance` with a trace
 * of one `c_predict` span for each run. It is idempotent. A model that failed has neither.
 *
 * @throws PlatformError `storage` as the store does
 */
export async function keepWholeModel(store: ResultStore, model: WholeModel): Promise<void> {
  const documents = platformDocuments(model);
  if (documents === undefined) return;
  // Documents that others refer to are stored first.
  await store.collection(PERFORMANCE_DOCUMENTS).put(documents.performance);
  await store.collection(EVALUATION_DOCUMENTS).put(documents.evaluation);
}

/** The two documents; undefined for a measurement without samples. */
export function platformDocuments(
  model: WholeModel,
): { readonly evaluation: EvaluationDocument; readonly performance: PerformanceDocument } | undefined {
  const { name, batchSize, measurement } = model;
  const { system, protocol, outcome } = measurement;
  if (outcome.kind !== 'samples') return undefined;
  const id = `${name} ${measurementId(measurementKey(measurement))}`;
  const created_at = new Date(measurement.measuredAt).toISOString();
  const framework = { name: system.framework, version: system.frameworkVersion };
  const performance: PerformanceDocument = {
    _id: objectId(`performance ${id}`),
    created_at,
    trace: traceOf(id, model, outcome),
    trace_level: TRACE_LEVEL,
    trace_url: '',
  };
  const evaluation: EvaluationDocument = {
    _id: objectId(`evaluation ${id}`),
    run_id: objectId(JSON.stringify([system.fingerprint, protocol])),
    created_at,
    framework,
    model: { name, version: MODEL_VERSION, framework },
    dataset_category: '',
    dataset_name: 'values from a seed',
    machine_architecture: system.architecture,
    using_gpu: system.runOptions.executionProvider !== 'cpu',
    batch_size: batchSize,
    hostname: hostname(),
    trace_level: TRACE_LEVEL,
    performance_id: performance._id,
    public: false,
    machine_information: machineOf(system),
    metadata: {
      signature: measurement.signature,
      system: system.fingerprint,
      protocol: measurementKey(measurement).setup,
      threads: String(system.runOptions.threads),
    },
  };
  return { evaluation, performance };
}

function machineOf(system: System): EvaluationDocument['machine_information'] {
  return {
    hostname: hostname(),
    kernelarch: system.architecture,
    osname: system.operatingSystem,
    memtotal: Math.round(system.memoryBytes / 1024),
    cpu: [
      {
        modelname: system.processor,
        cpucores: system.cores,
        cachesize: `${Math.round(system.cacheBytes / 1024)} KB`,
        flags: [...system.processorFeatures],
      },
    ],
  };
}

/** Only durations were measured: the runs are laid out one after another, up to the moment of the measurement. */
function traceOf(
  seed: string,
  { name, batchSize, measurement: { system, measuredAt } }: WholeModel,
  { runMs, warmupMs }: { readonly runMs: readonly number[]; readonly warmupMs: readonly number[] },
): JaegerDocument {
  const sum = (times: readonly number[]): number => times.reduce((total, ms) => total + ms, 0);
  const totalMs = sum(warmupMs) + sum(runMs);
  const startMicros = (Date.parse(measuredAt) - totalMs) * 1000;
  const application = { trace_level: 'APPLICATION_TRACE' };
  // Warm-ups are left out: analyses average all c_predict spans.
  const warmUp = { startMicros, durationMicros: sum(warmupMs) * 1000, attributes: application, children: [] };
  let next = startMicros + warmUp.durationMicros;
  const batches = runMs.map((ms, batch_index): PlainSpan => {
    const times = { startMicros: next, durationMicros: ms * 1000 };
    next += times.durationMicros;
    const attributes = { trace_level: TRACE_LEVEL, evaluation_trace_level: TRACE_LEVEL, batch_size: batchSize };
    const prediction = { name: 'c_predict', ...times, attributes, children: [] };
    return { name: 'evaluate_batch', ...times, attributes: { ...application, batch_index }, children: [prediction] };
  });
  return jaegerTrace(seed, 'mlmodelscope', {
    name: 'evaluation_predict_urls',
    startMicros,
    durationMicros: totalMs * 1000,
    attributes: {
      ...application,
      evaluation_trace_level: TRACE_LEVEL,
      framework_name: system.framework,
      framework_version: system.frameworkVersion,
      model_name: name,
      model_version: MODEL_VERSION,
      batch_size: batchSize,
      use_gpu: system.runOptions.executionProvider !== 'cpu',
      num_warmup_batches: warmupMs.length,
      num_batches: runMs.length,
    },
    children: [{ name: 'warm_up', ...warmUp }, ...batches],
  });
}

/** The same thing has the same identifier in every store. */
function objectId(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
