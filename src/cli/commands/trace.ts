import type { Command } from 'commander';
import type { CommandHost } from '../../evaluation/plugin.js';
import { registerTraceExport } from './trace-export.js';
import { registerTraceModel } from './trace-model.js';
import { registerTraceShow } from './trace-show.js';

/** `mlmodelscope trace model|list|show|export`: what happens inside of a model, and in an evaluation. */
export function registerTraceCommand(program: Command, host: CommandHost): void {
  const trace = program
    .command('trace')
    .description("Time a model's kernels by the runtime's own profile; show and export traces that are in the store")
    .addHelpText(
      'after',
      `
Traces of evaluations are kept where the OTEL_* variables turn tracing on
(OTEL_TRACES_EXPORTER=none keeps them without sending them anywhere); those of
\`trace model\` always. docs/tracing.md says more.

Examples:
  mlmodelscope trace model zoo:resnet18
  mlmodelscope trace list
  mlmodelscope trace show latest
  mlmodelscope trace export latest --format jaeger > trace.json`,
    );
  registerTraceModel(trace, host);
  registerTraceShow(trace, host);
  registerTraceExport(trace, host);
}
