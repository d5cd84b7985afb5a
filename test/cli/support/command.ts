import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describeAgent } from '../../../src/agent/services/describe-machine.js';
import { knownHeldCacheBytes } from '../../../src/agent/services/held-cache.js';
import { LOCK_GROUP_VARIABLE } from '../../../src/agent/worker/machine-lock.js';
import type { Lifetime } from '../../support/lifetime.js';
import { MAX_WAIT_MS } from '../../support/until.js';
import { AS_STORED, ONCE } from './tiny-models.js';

const JOINED = fileURLToPath(new URL('../../../../lib/src/bin/main.js', import.meta.url));

/** The command as users run it. `make mutants` changes single modules, and has nothing else. */
export const MAIN = existsSync(JOINED) ? JOINED : fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));

/** Only ends a test that hangs; every test here takes a few seconds at most. */
export const deadline = { timeout: 300_000 };

const POLL_MS = 20;

/** How a command ended. */
export interface Ending {
  readonly stdout: string;
  readonly stderr: string;
  /** As a shell has it: 128 and the number of the signal where a signal ended the command. */
  readonly code: number;
}

/** A command that runs. */
export interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** Resolves with the match once standard output or standard error has one. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface StartOptions {
  /** Let manifests and defaults decide what is measured more than once; see {@link measuringOnce}. */
  readonly repeats?: boolean;
  /** Added to the workplace's environment; undefined removes. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Lead its own process group, as a shell's job does. */
  readonly ownGroup?: boolean;
  /** Run as another user. */
  readonly uid?: number;
  readonly gid?: number;
  /** A program, with its arguments, that starts the command by exec. */
  readonly through?: readonly string[];
}

/** A folder for one test. Commands run in it as for a user without any earlier files. */
export interface Workplace {
  readonly folder: string;
  /** The place where commands keep measurements by default. */
  readonly store: string;
  readonly env: NodeJS.ProcessEnv;
  path(...names: readonly string[]): string;
  /** Writes a file and returns its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** Starts `mlmodelscope ARGS`; it is killed when the test ends. */
  start(args: readonly string[], options?: StartOptions): Running;
  /** Starts another program in the same way. */
  startProgram(program: string, args: readonly string[], options?: StartOptions): Running;
  /** Runs `mlmodelscope ARGS` to its end. */
  run(args: readonly string[], options?: StartOptions): Promise<Ending>;
}

/** Variables that would make the environment of commands differ between machines. */
const FOREIGN = ['NODE_TEST_CONTEXT', 'NODE_OPTIONS', 'NO_COLOR', 'FORCE_COLOR'];

const isForeign = (name: string): boolean => FOREIGN.includes(name) || name.startsWith('MLMODELSCOPE_');

/**
 * Tests that run at the same time disturb the measurements of a command. The command then measures again, with pauses
 * of seconds and in more processes. So a command measures each benchmark once, unless the test says otherwise.
 */
export function measuringOnce(args: readonly string[], { repeats = false }: StartOptions = {}): readonly string[] {
  const [command = '', subcommand = ''] = args;
  const bricks = command === 'dlbricks' && /^(run|validate|sweep)$/.test(subcommand);
  if (repeats || !(bricks || command === 'latency')) return args;
  const isPrecise = !bricks || args.some((word) => /^--(target-error|repeat-limit|suite)$/.test(word));
  return [
    ...args,
    ...(args.includes('--remeasure') || args.includes('--fresh') ? [] : AS_STORED),
    ...(isPrecise ? [] : ONCE),
  ];
}

/** What no agent in a workplace has to find out: that takes a fifth of a second where the machine states a large cache. */
const HELD_CACHE_BYTES = 2 ** 25;
const MACHINE = describeAgent('onnxruntime');

export async function workplace(t: Lifetime): Promise<Workplace> {
  const folder = await mkdtemp(join(tmpdir(), 'cli-test-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const path = (...names: readonly string[]): string => join(folder, ...names);
  const store = path('store');
  await knownHeldCacheBytes(MACHINE, path('cache', 'machine'), () => HELD_CACHE_BYTES);
  const inherited = Object.entries(process.env).filter(([name]) => !isForeign(name));
  const env = {
    ...Object.fromEntries(inherited),
    HOME: folder,
    XDG_CONFIG_HOME: path('no-configuration'),
    MLMODELSCOPE_STORE: store,
    MLMODELSCOPE_CACHE: path('cache'),
    [LOCK_GROUP_VARIABLE]: basename(folder),
  };

  function startProgram(
    program: string,
    args: readonly string[],
    { env: changes = {}, ownGroup = false, through = [], uid, gid }: StartOptions = {},
  ): Running {
    const [first = '', ...rest] = [...through, program, ...args];
    const child = spawn(first, rest, {
      cwd: folder,
      env: { ...env, ...changes },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: ownGroup,
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    t.after(() => child.kill('SIGKILL'));
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    const ended = new Promise<Ending>((resolve) => {
      // As a shell has it: 128 and the number of the signal that ended the process.
      child.once('close', (code, signal) => {
        resolve({ stdout, stderr, code: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] });
      });
    });
    const said = async (pattern: RegExp): Promise<RegExpExecArray> => {
      const deadline = performance.now() + MAX_WAIT_MS;
      for (;;) {
        const match = pattern.exec(stdout) ?? pattern.exec(stderr);
        if (match !== null) return match;
        if (child.exitCode !== null) assert.fail(`ended without output that matches ${pattern}:\n${stdout}${stderr}`);
        if (performance.now() > deadline) assert.fail(`no output matches ${pattern}:\n${stdout}${stderr}`);
        await setTimeout(POLL_MS);
      }
    };
    return { process: child, pid: child.pid ?? 0, ended, said };
  }

  function start(args: readonly string[], options?: StartOptions): Running {
    return startProgram(process.execPath, [MAIN, ...measuringOnce(args, options)], options);
  }

  return {
    folder,
    store,
    env,
    path,
    write: async (name, content) => {
      await writeFile(path(name), content);
      return path(name);
    },
    start,
    startProgram,
    run: (args, options) => start(args, options).ended,
  };
}
