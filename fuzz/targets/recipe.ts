import { readRecipe } from '../../plugins/dlbricks/bricks/recipe.js';
import { compose } from '../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../plugins/dlbricks/estimate/brick-latency.js';
import { sampleMeasurement } from '../../test/store/sample-measurement.js';
import { jsonTarget } from './json-target.js';
import { sampleSuite } from './sample-suite.js';

/** Recipes: read, and composed from the available measurements of their bricks. */
export const recipe = jsonTarget({
  name: 'recipe',
  seeds() {
    const { recipe: written } = sampleSuite();
    return Promise.resolve([written, { ...written, format: 'dlbricks-recipe/1', models: written.models.slice(0, 1) }]);
  },
  async read(path) {
    const bricks = sampleSuite().suite.bricks;
    const observations = groupObservations(bricks.map(({ signature }, i) => sampleMeasurement(i, { signature })));
    const { models } = await readRecipe(path);
    return models.map((one) => compose({ recipe: one, context: undefined }, observations));
  },
});
