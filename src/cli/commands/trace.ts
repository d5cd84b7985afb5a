import type { Command } from 'commander';
import type { CommandHost } from '../../evaluation/plugin.js';
import { registerStoredTraces } from './stored-traces.js';
import { registerTraceModel } from './trace-model.js';

export function registerTraceCommand(program: Command, host: CommandHost): void {
  const trace = program
    .command('trace')
    .description("Time a model's kernels with the runtime's profile; show and export stored traces")
    .addHelpText(
      'after',
      `
The store keeps traces of evaluations if the OTEL_* variables turn tracing on
(OTEL_TRACES_EXPORTER=none stores them without sending them). It always keeps
traces of \`trace model\`. See docs/tracing.md.

Examples:
  mlmodelscope trace model zoo:resnet18
  mlmodelscope trace list
  mlmodelscope trace show latest
  mlmodelscope trace export latest --format jaeger > trace.json`,
    );
  registerTraceModel(trace, host);
  registerStoredTraces(trace, host);
}
