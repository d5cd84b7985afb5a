#!/usr/bin/env node
import { PlatformError } from '../base/errors.js';
import { describeFailure } from './failure.js';
import { runCommandLine } from './run-command-line.js';
import { processTerminal, type Terminal } from './terminal.js';

/** Like an unhandled interrupt (130). process.exit would wait for the store's threads, which may wait for this one. */
function endNow(): void {
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
}

/** The first Ctrl-C or termination signal ends the command in order and keeps results; the second ends it at once. */
function interruptOnSignals(interrupt: AbortController): void {
  const onSignal = (): void => {
    if (interrupt.signal.aborted) endNow();
    interrupt.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}

/** Streams and callbacks can fail outside of every `try`. These errors also print one message and no stack trace. */
function endOnStrayErrors(terminal: Terminal, interrupt: AbortController): void {
  const end = (error: unknown): never => {
    const { message, exitCode } = describeFailure(error);
    terminal.err(message);
    process.off('exit', failUnfinished);
    process.exit(exitCode);
  };
  // The reader of standard output has closed it, as `| head` does. The store has all results.
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

/** A plugin may end the process, without a result. Its file is in the stack here. */
function failUnfinished(): void {
  const { message, exitCode } = describeFailure(new Error('the process ended before the command'));
  terminal.err(message);
  process.exitCode = exitCode;
}

// Of Node's functions, for authors of this code and of packages: users cannot do anything about them.
process.noDeprecation = true;
const terminal = processTerminal();
process.on('exit', failUnfinished);
const interrupt = new AbortController();
interruptOnSignals(interrupt);
endOnStrayErrors(terminal, interrupt);
process.exitCode = await runCommandLine(process.argv.slice(2), terminal, interrupt.signal);
process.off('exit', failUnfinished);
// All is closed and stored. A connection to a server that does not answer would keep the process for seconds.
if (interrupt.signal.aborted) process.stdout.write('', () => process.exit());
