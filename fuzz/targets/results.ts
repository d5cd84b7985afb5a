import { compose } from '../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../plugins/dlbricks/estimate/brick-latency.js';
import { readResults, resultsText } from '../../plugins/dlbricks/exchange/results-file.js';
import { sampleMeasurement } from '../../test/store/sample-measurement.js';
import { jsonTarget } from './json-target.js';
import { sampleSuite } from './sample-suite.js';

/** Measurements of a suite's bricks: several occasions, in context, a failure. */
function measurements() {
  return sampleSuite().suite.bricks.flatMap(({ signature }, i) => [
    sampleMeasurement(i, { signature }),
    sampleMeasurement(i + 1, { signature, occasion: 2 }),
    sampleMeasurement(i, { signature, context: { footprintBytes: 2 ** 20 } }),
    sampleMeasurement(i, { signature, occasion: 3, outcome: { kind: 'failure', reason: 'crashed', message: 'gone' } }),
  ]);
}

/** As version 0.1 wrote them: occasion and limits are in the protocol. */
function older(): object {
  const together = measurements().map(({ protocol, occasion, limits, ...rest }) => {
    return { ...rest, protocol: { ...protocol, ...limits, occasion } };
  });
  return { format: 'dlbricks-results/1', measurements: together };
}

/** Results: read, and a model composed from them. */
export const results = jsonTarget({
  name: 'results',
  seeds: () => Promise.resolve([JSON.parse(resultsText(measurements())), older()]),
  async read(path) {
    const { recipe } = sampleSuite();
    const observations = groupObservations(await readResults(path));
    return recipe.models.map((one) => compose({ recipe: one, context: undefined }, observations));
  },
});
