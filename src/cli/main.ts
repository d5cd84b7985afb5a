#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT_INTERRUPTED } from '../exit-codes.js';
import { failureOf } from './failure.js';
import { createHost } from './host.js';
import { loadPlugins } from './load-plugins.js';
import { createProgram } from './program.js';
import { processTerminal } from './terminal.js';

/** Exit code of a command line that Commander does not understand; help and version are no errors. */
const EXIT_USAGE = 2;

async function main(argv: readonly string[]): Promise<number> {
  const terminal = processTerminal();
  const interrupt = new AbortController();
  const onSignal = (): void => {
    // Once: finish in order, keep what there is. Twice: now.
    if (interrupt.signal.aborted) process.exit(EXIT_INTERRUPTED);
    interrupt.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // The reader of a pipe may leave early; what was measured is in the store.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

  const host = createHost(terminal, interrupt.signal);
  try {
    const program = createProgram(host, terminal, await loadPlugins());
    await program.parseAsync(argv, { from: 'user' });
    return host.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    const { message, exitCode } = failureOf(error);
    terminal.err(message);
    return exitCode;
  } finally {
    await host.close();
  }
}

process.exitCode = await main(process.argv.slice(2));
