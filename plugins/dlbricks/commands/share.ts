import type { Command } from 'commander';
import {
  addAgentOptions,
  addQuietOption,
  addStoreOption,
  addTableOptions,
  type CommandHost,
  EXIT_PARTIAL,
  identifySystem,
  prepareOutputs,
  buildProvenance,
  writeShown,
} from '../../../src/plugin-api.js';
import { modelNeeds } from '../bricks/needs.js';
import { prepareOrRefuse } from '../bricks/prepare-model.js';
import { NO_WHOLE_MODEL } from '../estimation.js';
import { groupObservations } from '../estimate/brick-latency.js';
import { FIRST_OCCASION, findKnown } from '../measure/tasks.js';
import { sharingHeatMap, shownSharing, sharingAmong } from '../sharing/sharing-result.js';
import { loadAndPrepare } from './prepare-models.js';
import { addMeasuringOptions, parseMeasureSettings, type MeasuringOptions, type PlaceOptions } from './options.js';

const HELP = `
Columns: "own repeats" are sequences that repeat an earlier one of the same
model; "in others" are sequences that another of the models has as well.
"measured" are those that the store has for this machine, so that estimating
the model measures only the rest. A brick is measured anew in a model that
touches much more or less memory, so it counts as another one there. The heat
map shows the Jaccard index of each pair of models: the unique bricks that both
have, in percent of those that at least one has.

Examples:
  mlmodelscope dlbricks share zoo:resnet18 zoo:resnet50 zoo:vgg16
  mlmodelscope dlbricks share *.onnx --export-svg sharing.svg`;

export function registerShare(parent: Command, host: CommandHost): void {
  const command = parent
    .command('share')
    .description('Show how much models share and how much of them is measured, without measuring')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME');
  addQuietOption(addTableOptions(addAgentOptions(addStoreOption(addMeasuringOptions(command)))))
    .option('--export-svg <file>', 'draw the Jaccard index of each pair of models as a heat map')
    .addHelpText('after', HELP)
    .action(async (references: string[], options: MeasuringOptions & PlaceOptions) => {
      const outputs = await prepareOutputs(options);
      const agent = await host.connect(options.agent, options.framework);
      const store = await host.openStore(options.store, { access: 'read' });
      const found = await loadAndPrepare(references, options, agent, host, prepareOrRefuse);
      const { settings, loaded, prepared: models, header } = found;
      for (const { recipe, refusal } of models) {
        if (refusal === undefined) continue;
        host.warn(`warning: ${recipe.name}: ${refusal}`);
        host.setExitCode(EXIT_PARTIAL);
      }
      const system = identifySystem(agent.description, settings.runOptions);
      const measuring = parseMeasureSettings(options, agent.description);
      const { protocol } = measuring;
      const needs = models.flatMap(({ recipe }) => modelNeeds(recipe, system, protocol));
      const known = await findKnown(needs, [FIRST_OCCASION], system, measuring, store);
      const sharing = sharingAmong(models, system, groupObservations(known.measurements()));
      const provenance = buildProvenance({ models: loaded, agent, protocol, reasons: NO_WHOLE_MODEL });
      const shown = shownSharing(sharing, header, provenance);
      await writeShown({ ...shown, pictures: { svg: () => sharingHeatMap(sharing) } }, outputs, host);
    });
}
