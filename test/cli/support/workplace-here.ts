import { Writable } from 'node:stream';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import type { Lifetime } from '../../support/lifetime.js';
import { measuringOnce, type Ending, type StartOptions, workplace, type Workplace } from './command.js';

/** This process has one environment and one working directory, so commands take turns. */
let turn: Promise<unknown> = Promise.resolve();

/** Runs something in an environment and a folder, and restores both. */
async function among<T>(env: NodeJS.ProcessEnv, folder: string, run: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  const cwd = process.cwd();
  // Only the variables that differ: threads of native libraries may read others meanwhile, which can crash the process.
  const replace = (by: NodeJS.ProcessEnv): void => {
    for (const name of Object.keys(process.env)) if (by[name] === undefined) delete process.env[name];
    for (const [name, value] of Object.entries(by)) {
      if (value !== undefined && process.env[name] !== value) process.env[name] = value;
    }
  };
  replace(env);
  process.chdir(folder);
  try {
    return await run();
  } finally {
    process.chdir(cwd);
    replace(before);
  }
}

/** Runs a command line in this process, as if its output went to files or to a display of this number of columns. */
async function runHere(args: readonly string[], columns?: number): Promise<Ending> {
  let stdout = '';
  let stderr = '';
  const errStream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      stderr += chunk.toString();
      done();
    },
  });
  const terminal = {
    out: (text: string) => void (stdout += text),
    err: (line: string) => void (stderr += `${line}\n`),
    errStream,
    isInteractive: false,
    color: false,
    columns: { out: columns, err: columns },
  };
  const code = await runCommandLine(args, terminal, new AbortController().signal);
  return { stdout, stderr, code };
}

/**
 * A workplace whose commands run in this process, for tests of the output and the effects of a command. A process takes
 * half a second of processor time to start. The traits of a process (signals, streams, its end) are tested with
 * {@link workplace}.
 */
export async function workplaceHere(t: Lifetime, { columns }: { readonly columns?: number } = {}): Promise<Workplace> {
  const place = await workplace(t);
  const run = (args: readonly string[], options: Pick<StartOptions, 'env' | 'repeats'> = {}): Promise<Ending> => {
    const env = { ...place.env, ...options.env };
    const ended = turn.then(() => among(env, place.folder, () => runHere(measuringOnce(args, options), columns)));
    turn = ended.catch(() => {});
    return ended;
  };
  return { ...place, run };
}
