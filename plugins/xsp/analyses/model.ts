import { number, rowsOf, text, xspAnalysis } from '../analysis.js';
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
  ...rowsOf(
    (trace: Trace, all) => {
      const { modelMs, tracedMs, batch } = trace;
      const ms = modelMs ?? tracedMs ?? null;
      return [{ ...trace, ms, latencyMs: ratio(ms, batch), optimal: optimalBatch(trace, all) }];
    },
    [number('batch_size', 'batch'), ({ batch }) => batch],
    [number('duration', 'duration', 'µs'), ({ ms }) => (ms === null ? null : ms * 1000)],
    [number('latency_ms', 'latency of an input', 'ms'), ({ latencyMs }) => latencyMs],
    [number('throughput', 'throughput', 'inputs/s'), ({ latencyMs }) => ratio(1000, latencyMs)],
    [
      number('runs', 'runs'),
      ({ modelMs, stored }) => (modelMs === undefined ? stored.tracedWholeMs : stored.wholeMs).length,
    ],
    [
      number('traced_duration', 'with the profile', 'µs'),
      ({ tracedMs }) => (tracedMs === undefined ? null : tracedMs * 1000),
    ],
    [
      number('tracing_percent', 'tracing', '%'),
      ({ modelMs, tracedMs }) =>
        modelMs === undefined || tracedMs === undefined ? null : 100 * (tracedMs / modelMs - 1),
    ],
    [number('optimal_batch', 'optimal batch'), ({ optimal }) => optimal],
    [
      text('measured_by', 'measured by'),
      ({ modelMs }) => (modelMs === undefined ? 'runs with the profile' : 'runs without the profile'),
    ],
  ),
  notesOf: (traces) => [
    ...(traces.some(({ modelMs }) => modelMs === undefined)
      ? ['Runs with the profile are slower than others: their latency is too high by the cost of tracing.']
      : []),
    'The optimal batch is the smallest that the next larger one beats by less than 5 % of throughput; none for one size.',
  ],
  draw: drawRows('Throughput by batch', ['batch', 'batch_size'], 'inputs/s', [['throughput', 'throughput']]),
});
