import type { Plugin } from '../../src/plugin-api.js';
import { registerAdvise } from './commands/advise.js';
import { registerAgree } from './commands/agree.js';
import { registerCompare } from './commands/compare.js';
import { registerCompose } from './commands/compose.js';
import { registerGenerate } from './commands/generate.js';
import { registerImport } from './commands/import.js';
import { registerLayers, registerPatterns } from './commands/layers.js';
import { registerRun } from './commands/run.js';
import { registerShare } from './commands/share.js';
import { registerSweep } from './commands/sweep.js';
import { registerValidate } from './commands/validate.js';
import { dlbricksEvaluation } from './evaluation.js';
import { spread } from './analyses/spread.js';

const EXAMPLES = `
Examples:
  mlmodelscope dlbricks run manifests/evaluations/quickstart.yml
  mlmodelscope dlbricks validate zoo:squeezenet1.1 --threads 2
  mlmodelscope dlbricks compose zoo:squeezenet1.1 --threads 2`;

/** Latency estimates of whole models from unique bricks, after DLBricks (Li, Dakkak, Xiong and Hwu, ICPE 2020). */
const plugin: Plugin = {
  name: 'dlbricks',
  version: dlbricksEvaluation.version,
  evaluation: dlbricksEvaluation,
  analyses: [spread],
  registerCommand(program, host) {
    const command = program
      .command('dlbricks')
      .description('Estimate the latency of whole models from measurements of their unique layer sequences')
      .addHelpText('after', EXAMPLES);
    registerRun(command, host);
    registerValidate(command, host);
    registerAdvise(command, host);
    registerSweep(command, host);
    registerShare(command, host);
    registerLayers(command, host);
    registerPatterns(command, host);
    registerGenerate(command, host);
    registerCompose(command, host);
    registerImport(command, host);
    registerCompare(program, host);
    registerAgree(program, host);
  },
};

export default plugin;
