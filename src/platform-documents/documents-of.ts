import { goArchitecture } from '../base/go-architecture.js';
import { sha256Of } from '../base/sha256.js';
import { runsOnProcessor, type System } from '../measurement/system.js';
import { jaeger } from '../tracing/exporters/jaeger.js';
import { TRACE_LEVELS } from '../tracing/trace-level.js';
import type { EvaluationDocument, PerformanceDocument } from './documents.js';
import type { Evaluated } from './evaluated.js';
import { evaluationTrace } from './evaluation-trace.js';
import { snappyCompress } from './snappy.js';
import { traceSpans } from './trace-spans.js';

/** The first version of the platform's models. */
const MODEL_VERSION = '1.0';

export function computeIds({ id }: Evaluated): { readonly evaluation: string; readonly performance: string } {
  return { evaluation: objectId(`evaluation ${id}`), performance: objectId(`performance ${id}`) };
}

/** The same evaluation has the same documents. The spans are the trace that is embedded in `performance`. */
export function buildDocuments(evaluated: Evaluated) {
  const { id, model, system, host, level } = evaluated;
  const created_at = new Date(evaluated.endedAt).toISOString();
  const framework = { name: system.framework, version: system.frameworkVersion };
  const ids = computeIds(evaluated);
  const version = model.manifest?.version ?? MODEL_VERSION;
  // Repeated runs are another trace, so the seed contains the time.
  const seed = `${id} ${created_at}`;
  const resource = { 'service.name': 'mlmodelscope', 'host.name': host };
  const spans = traceSpans(seed, resource, evaluationTrace(evaluated, version));
  return {
    spans,
    performance: {
      _id: ids.performance,
      created_at,
      // Source: c3sr/evaluation, performance.go, `CompressTrace`.
      trace: snappyCompress(Buffer.from(jaeger(spans))).toString('base64'),
      trace_level: TRACE_LEVELS.indexOf(level),
      trace_url: '',
    } satisfies PerformanceDocument,
    evaluation: {
      _id: ids.evaluation,
      run_id: objectId(evaluated.runId),
      created_at,
      framework,
      model: { name: model.name, version, framework: model.manifest?.framework ?? framework },
      dataset_category: evaluated.dataset?.category ?? '',
      dataset_name: evaluated.dataset?.name ?? 'values from a seed',
      machine_architecture: goArchitecture(system.architecture),
      using_gpu: !runsOnProcessor(system.runOptions),
      batch_size: model.batchSize,
      hostname: host,
      trace_level: level,
      performance_id: ids.performance,
      ...(evaluated.inputPredictionIds && { input_prediction_ids: [...evaluated.inputPredictionIds] }),
      public: false,
      machine_information: buildMachine(system, host),
      gpu_driver: '',
      metadata: { ...evaluated.metadata, system: system.fingerprint, threads: String(system.runOptions.threads) },
    } satisfies EvaluationDocument,
  };
}

function buildMachine(system: System, hostname: string): EvaluationDocument['machine_information'] {
  return {
    hostname,
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

/** From a hash of the text, so that it is the same in every store. */
export function objectId(text: string): string {
  return sha256Of(text).slice(0, 24);
}
