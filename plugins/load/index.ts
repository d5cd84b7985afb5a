import type { Plugin } from '../../src/plugin-api.js';
import { registerLoad } from './command.js';
import { loadEvaluation } from './evaluation.js';

const plugin: Plugin = {
  name: 'load',
  version: loadEvaluation.version,
  evaluation: loadEvaluation,
  registerCommand: registerLoad,
};

export default plugin;
