// Runs zoo models once each with one framework, and writes the bytes of their outputs, in order, to standard output.
// The two frameworks cannot be in one process: both register the same backend names.
import { weightlessBenchmark } from '../../src/measurement/weightless.js';
import { bindDimensions } from '../../src/onnx/layers/bind-dimensions.js';
import { type FrameworkName, FRAMEWORKS } from '../../src/predictor/frameworks.js';
import { makeFeeds, materialize } from '../../src/predictor/materialize.js';
import { openFilledModel } from '../../src/predictor/open-filled-model.js';
import { buildZooModel } from '../../src/zoo/zoo.js';

const [framework, temporaryFolder = '', ...names] = process.argv.slice(2);
const predictor = await FRAMEWORKS[framework as FrameworkName].load();
const runOptions = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
for (const name of names) {
  const benchmark = weightlessBenchmark(bindDimensions(buildZooModel(name), new Map(), { batch: 1 }));
  const model = await openFilledModel(predictor, materialize(benchmark), runOptions, { temporaryFolder });
  const outputs = await model.prepare(makeFeeds(benchmark)).evaluate();
  for (const [output] of [...outputs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    process.stdout.write(outputs.get(output)?.bytes ?? new Uint8Array());
  }
  await model.close();
}
