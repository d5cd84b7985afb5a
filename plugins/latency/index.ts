import type { Plugin } from '../../src/plugin-api.js';
import { registerLatency } from './command.js';
import { latencyEvaluation } from './evaluation.js';
import { runs } from './runs.js';

/** Times whole models: as an evaluation, as a command, and as an analysis of stored measurements. */
const plugin: Plugin = {
  name: 'latency',
  version: latencyEvaluation.version,
  evaluation: latencyEvaluation,
  analyses: [runs],
  registerCommand: registerLatency,
};

export default plugin;
