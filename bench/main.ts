import { availableParallelism, cpus } from 'node:os';
import { counted } from '../src/base/counted.js';
import { benchmarkCompose } from './compose.js';
import { benchmarkDecompose } from './decompose.js';
import { benchmarkFamilies } from './family.js';
import { benchmarkHealth } from './health.js';
import { benchmarkReadModel } from './read-model.js';
import { benchmarkTracing } from './tracing.js';
import { benchmarkReadTrace } from './read-trace.js';
import { benchmarkStores } from './store.js';

/** Size of each trace, long enough for a steady throughput. `node dist/bench/read-trace.js 5000` reads longer ones. */
const TRACE_MEGABYTES = 500;

const print = (line: string): void => console.log(line);

print(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`,
);

const { model, layers, layersPerSecond } = benchmarkDecompose();
print(
  `decompose ${model} (${layers} layers, the most of the well-known architectures): ${Math.round(layersPerSecond)} layers/s`,
);

for (const { weights, weightBytes, seconds, peakRssMb } of await benchmarkReadModel()) {
  const size = (weightBytes / 1e9).toFixed(2);
  print(
    `read a model with ${size} GB of ${weights} weights: ${seconds.toFixed(3)} s, ${Math.round(peakRssMb)} MB peak memory`,
  );
}

for (const { format, megabytes, seconds, peakRssMb } of await benchmarkReadTrace(TRACE_MEGABYTES)) {
  const speed = Math.round(megabytes / seconds);
  print(`read ${megabytes} MB like ${format}: ${speed} MB/s, ${Math.round(peakRssMb)} MB peak memory`);
}

const { models, bricks, seconds, secondsWithGraphs } = await benchmarkCompose();
print(
  `compose all ${models} zoo models from a store of ${bricks} bricks: ${seconds.toFixed(3)} s, ` +
    `${secondsWithGraphs.toFixed(3)} s with building and decomposing their graphs`,
);

for (const { backend, measurements, found, findSeconds, putSeconds } of await benchmarkStores()) {
  print(
    `store of ${measurements} measurements (${backend}): ${found} found in ${findSeconds.toFixed(2)} s, ` +
      `1000 stored in ${putSeconds.toFixed(2)} s`,
  );
}

for (const threads of new Set([1, availableParallelism()])) {
  const { answers, medianMs, p99Ms, model: measured } = await benchmarkHealth('resnet18', threads);
  print(
    `health check while ${measured} is measured with ${counted(threads, 'thread')}: ` +
      `median ${medianMs.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms of ${answers} answers`,
  );
}

// Before the families, whose measurements start tracing themselves.
const traced = await benchmarkTracing();
print(
  `tracing: a span costs ${traced.offNs.toFixed(0)} ns where tracing is off, ${(traced.onNs / 1000).toFixed(1)} µs where it is on; ` +
    `a call to an agent takes ${traced.callOffMs.toFixed(2)} and ${traced.callOnMs.toFixed(2)} ms; the profile of ${traced.model}'s ` +
    `${traced.kernels} kernels adds ${traced.profileMs.toFixed(3)} to ${traced.modelMs.toFixed(3)} ms`,
);

for (const { known, model, newBricks, bricks, brickSeconds, wholeSeconds } of await benchmarkFamilies()) {
  const share = ((100 * brickSeconds) / wholeSeconds).toFixed(0);
  print(
    `${model} after ${known.join(' and ')}: ${newBricks} of ${bricks} bricks are new; ${brickSeconds.toFixed(2)} s, ` +
      `${share} % of the ${wholeSeconds.toFixed(2)} s that measuring it whole takes`,
  );
}
