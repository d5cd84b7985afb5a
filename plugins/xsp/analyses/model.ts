import { number, text, xspAnalysis } from '../analysis.js';
import { drawRows } from '../draw.js';
import { ratio, type Trace } from '../traces.js';

/** For a doubled batch to be better. */
const GAIN = 1.05;

/** The least batch of a model whose next larger one gains less than 5 % of throughput. */
function optimalBatch({ stored }: Trace, all: readonly Trace[]): number | null {
  const sizes = all.filter((one) => one.stored.model === stored.model && one.stored.system === stored.system);
  const rates = sizes.flatMap(({ batch, modelMs }) =>
    batch === null || modelMs === undefined ? [] : [{ batch, rate: batch / modelMs }],
  );
  if (rates.length < 2) return null;
  const found = rates.find(({ rate }, at) => (rates[at + 1]?.rate ?? 0) < GAIN * rate);
  return found?.batch ?? null;
}

export const model = xspAnalysis({
  name: 'model',
  description: 'A1: latency and throughput of the whole model, by the size of the batch',
  level: 'MODEL_TRACE',
  columns: [
    number('batch_size', 'batch'),
    number('duration', 'duration', 'µs'),
    number('latency_ms', 'latency of an input', 'ms'),
    number('throughput', 'throughput', 'inputs/s'),
    number('runs', 'runs'),
    number('traced_duration', 'with the profile', 'µs'),
    number('tracing_percent', 'tracing', '%'),
    number('optimal_batch', 'optimal batch'),
    text('measured_by', 'measured by'),
  ],
  rowsOf: (trace, all) => {
    const { modelMs, tracedMs, batch, stored } = trace;
    const ms = modelMs ?? tracedMs ?? null;
    const latencyMs = ratio(ms, batch);
    return [
      {
        batch_size: batch,
        duration: ms === null ? null : ms * 1000,
        latency_ms: latencyMs,
        throughput: ratio(1000, latencyMs),
        runs: modelMs === undefined ? stored.tracedWholeMs.length : stored.wholeMs.length,
        traced_duration: tracedMs === undefined ? null : tracedMs * 1000,
        tracing_percent: modelMs === undefined || tracedMs === undefined ? null : 100 * (tracedMs / modelMs - 1),
        optimal_batch: optimalBatch(trace, all),
        measured_by: modelMs === undefined ? 'runs with the profile' : 'runs without the profile',
      },
    ];
  },
  notesOf: (traces) => [
    ...(traces.some(({ modelMs }) => modelMs === undefined)
      ? ['Runs with the profile are slower than others: their latency is too high by the cost of tracing.']
      : []),
    'The optimal batch is the smallest that the next larger one beats by less than 5 % of throughput; null for one size.',
  ],
  draw: drawRows('Throughput by batch', ['batch', 'batch_size'], 'inputs/s', [['throughput', 'throughput']]),
});
