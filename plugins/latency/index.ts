import type { Plugin } from '../../src/plugin-api.js';
import { registerLatency } from './command.js';
import { latencyEvaluation } from './evaluation.js';
import { runs } from './runs.js';

const plugin: Plugin = {
  name: 'latency',
  version: latencyEvaluation.version,
  evaluation: latencyEvaluation,
  analyses: [runs],
  registerCommand: registerLatency,
};

export default plugin;
