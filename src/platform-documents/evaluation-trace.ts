import { sumOf } from '../base/sum-of.js';
import { runsOnProcessor } from '../measurement/system.js';
import type { Evaluated, EvaluatedLayer } from './evaluated.js';
import type { PlainSpan } from './trace-spans.js';

function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

function layerSpans(layers: readonly EvaluatedLayer[], runMicros: number): readonly PlainSpan[] {
  let startMicros = runMicros;
  return layers.map(({ name, opName, shape, durationMs }, index) => {
    const durationMicros = microseconds(durationMs);
    const span = {
      name: name === '' ? opName : name,
      startMicros,
      durationMicros,
      // Text, as the platform's agents write it.
      attributes: { trace_level: 'FRAMEWORK_TRACE', layer_sequence_index: String(index), op_name: opName, shape },
      children: [],
    };
    startMicros += durationMicros;
    return span;
  });
}

/**
 * Names and tags are those of the platform's agents (c3sr/dlframework, predict_urls.go): a `c_predict` span for each
 * run, with its layers as children. Only durations are measured: runs and layers are laid out one after another.
 */
export function evaluationTrace(evaluated: Evaluated, version: string): PlainSpan {
  const { model, system, endedAt, level, warmupMs, runs } = evaluated;
  const warmUpMicros = sumOf(warmupMs.map(microseconds));
  const totalMicros = warmUpMicros + sumOf(runs.map(({ durationMs }) => microseconds(durationMs)));
  const startMicros = Date.parse(endedAt) * 1000 - totalMicros;
  const application = { trace_level: 'APPLICATION_TRACE' };
  let next = startMicros + warmUpMicros;
  const batches = runs.map(({ durationMs, layers }, batch_index): PlainSpan => {
    const times = { startMicros: next, durationMicros: microseconds(durationMs) };
    next += times.durationMicros;
    const attributes = { trace_level: 'MODEL_TRACE', evaluation_trace_level: level, batch_size: model.batchSize };
    const prediction = { name: 'c_predict', ...times, attributes, children: layerSpans(layers, times.startMicros) };
    return { name: 'evaluate_batch', ...times, attributes: { ...application, batch_index }, children: [prediction] };
  });
  // Analyses average all c_predict spans, so warm-ups have none.
  const warmUp = {
    name: 'warm_up',
    startMicros,
    durationMicros: warmUpMicros,
    attributes: { ...application, num_warmup_batches: warmupMs.length },
    children: [],
  };
  return {
    name: 'evaluation_predict_urls',
    startMicros,
    durationMicros: totalMicros,
    attributes: {
      ...application,
      evaluation_trace_level: level,
      framework_name: system.framework,
      framework_version: system.frameworkVersion,
      model_name: model.name,
      model_version: version,
      batch_size: model.batchSize,
      use_gpu: !runsOnProcessor(system.runOptions),
      num_warmup_batches: warmupMs.length,
      num_batches: runs.length,
    },
    children: [warmUp, ...batches],
  };
}
