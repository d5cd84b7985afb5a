#!/usr/bin/env node
import { dirname, join } from 'node:path';
import { CommanderError } from 'commander';
import { messageOf, PlatformError } from '../base/errors.js';
import { EXIT_INTERRUPTED } from '../base/exit-codes.js';
import { startTracing } from '../tracing/start-tracing.js';
import { activeTracing } from '../tracing/tracing.js';
import { calledCommands, inCommandSpan, serviceName } from './command-span.js';
import { applyConfiguration, configurationFile } from './configuration.js';
import { commandFailureOf } from './failure.js';
import { createHost, type OwnedHost } from './host.js';
import { loadPlugins, pluginPaths } from './load-plugins.js';
import { createProgram, type GlobalOptions } from './program.js';
import { processTerminal, type Terminal } from './terminal.js';

/** Exit code of a command line that Commander does not understand; help and version are no errors. */
const EXIT_USAGE = 2;

/**
 * Ends this process like an unhandled interrupt, which a shell reports as 130. Not by process.exit: that waits for the
 * store's threads, which may in turn wait for it when they are in the middle of a write.
 */
function endNow(): void {
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
}

/**
 * Handles Ctrl-C and termination signals. The first ends the command in order and keeps all results; the second ends it
 * at once.
 */
function interruptOnSignals(interrupt: AbortController): void {
  const onSignal = (): void => {
    if (interrupt.signal.aborted) endNow();
    interrupt.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}

/** Streams and callbacks can fail outside of every `try`. These errors give one message and no stack trace as well. */
function endOnStrayErrors(terminal: Terminal, interrupt: AbortController): void {
  const end = (error: unknown): never => {
    const { message, exitCode } = commandFailureOf(error);
    terminal.err(message);
    process.exit(exitCode);
  };
  // The reader of a stream has closed it, as `| head` does. The store has all results.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') interrupt.abort();
    else end(new PlatformError('storage', `standard output cannot be written: ${error.message}; make room for it`));
  });
  // A failure to write to standard error is ignored: the results do not depend on it.
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') interrupt.abort();
  });
  process.on('uncaughtException', end);
}

async function runCommand(argv: readonly string[], terminal: Terminal, host: OwnedHost): Promise<number> {
  try {
    const onWarning = (message: string): void => host.warn(`warning: ${message}`);
    const folder = join(dirname(configurationFile(process.env)), 'plugins');
    const plugins = await loadPlugins({ paths: pluginPaths(argv), folder, onWarning });
    const program = createProgram(host, terminal, plugins);
    program.parseOptions([...argv]);
    const { traceLevel } = program.opts<GlobalOptions>();
    const parse = (): Promise<unknown> => program.parseAsync(argv, { from: 'user' });
    await inCommandSpan(calledCommands(program, argv), traceLevel, parse);
    return host.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    const { message, exitCode } = commandFailureOf(error);
    terminal.err(host.signal.aborted && exitCode === EXIT_INTERRUPTED ? 'interrupted' : message);
    return exitCode;
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const terminal = processTerminal();
  const interrupt = new AbortController();
  interruptOnSignals(interrupt);
  endOnStrayErrors(terminal, interrupt);
  try {
    await applyConfiguration(process.env);
    await startTracing({ serviceName: serviceName(argv), environment: process.env });
  } catch (error) {
    const { message, exitCode } = commandFailureOf(error);
    terminal.err(message);
    return exitCode;
  }
  const host = createHost(terminal, interrupt.signal);
  const exitCode = await runCommand(argv, terminal, host);
  await host.close();
  // The work is done; a lost trace does not change its result.
  await activeTracing()
    ?.close()
    .catch((error: unknown) => terminal.err(`warning: ${messageOf(error)}`));
  return exitCode;
}

process.exitCode = await main(process.argv.slice(2));
