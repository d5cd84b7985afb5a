import type { Command } from 'commander';
import { DEFAULT_TRACE_LEVEL, type TraceLevel } from '../tracing/trace-level.js';
import { activeTracing } from '../tracing/tracing.js';

/** These commands add spans to the traces of other processes, and begin no trace of their own. */
const SERVERS = new Set(['agent', 'serve', 'plugin']);

export function calledCommands(program: Command, argv: readonly string[]): readonly string[] {
  const names: string[] = [];
  let command = program;
  for (const word of argv) {
    const called = command.commands.find((child) => child.name() === word);
    if (called !== undefined) {
      names.push(word);
      command = called;
    } else if (names.length > 0) break;
  }
  return names;
}

/** Name of this process in a trace, unless OTEL_SERVICE_NAME is set. */
export function serviceName(argv: readonly string[]): string {
  const server = argv.find((word) => SERVERS.has(word));
  return server === undefined ? 'mlmodelscope' : `mlmodelscope-${server}`;
}

export async function inCommandSpan(
  names: readonly string[],
  level: TraceLevel = DEFAULT_TRACE_LEVEL,
  run: () => Promise<unknown>,
): Promise<void> {
  const tracing = activeTracing();
  if (tracing === undefined || names[0] === undefined || SERVERS.has(names[0])) {
    await run();
    return;
  }
  const name = ['mlmodelscope', ...names].join(' ');
  await tracing.atLevel(level, () => tracing.inSpan(name, { level: 'APPLICATION_TRACE' }, run));
}
