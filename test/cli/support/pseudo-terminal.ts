import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { shellQuoted } from '../../../src/base/shell-quoted.js';
import { MAIN, measuringOnce, type Workplace } from './command.js';

/** Programs that run a command on a pseudo terminal, and how: util-linux's script, else Python's pty module. */
const WRAPPERS = [
  {
    isThere: () => /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? ''),
    command: (line: string) => ['script', '--quiet', '--return', '--command', line, '/dev/null'],
  },
  {
    isThere: () => spawnSync('python3', ['-c', 'import pty']).status === 0,
    command: (line: string) => ['python3', '-c', 'import pty, sys; pty.spawn(["sh", "-c", sys.argv[1]])', line],
  },
] as const;

const wrapper = WRAPPERS.find(({ isThere }) => isThere());

/** Why a test that needs a terminal cannot run here, or false. */
export const needsTerminal =
  wrapper === undefined ? 'finds neither script (util-linux) nor python3, which make pseudo terminals' : false;

export interface OnTerminal {
  /** Everything that the terminal got. */
  output(): string;
  /** Sends keys as if typed on the keyboard. */
  type(keys: string): void;
  /** Resolves when output has a match. */
  shows(pattern: RegExp): Promise<void>;
  readonly ended: Promise<void>;
}

/** Runs `mlmodelscope ARGS` on a terminal of 24 lines and this number of columns. */
export function onTerminal(
  t: TestContext,
  place: Workplace,
  args: readonly string[],
  columns: number,
  env: Readonly<Record<string, string>> = {},
): OnTerminal {
  const words = [process.execPath, MAIN, ...measuringOnce(args)].map(shellQuoted).join(' ');
  const [program = '', ...rest] = wrapper?.command(`stty rows 24 cols ${columns}; exec ${words}`) ?? [];
  const child = spawn(program, rest, {
    cwd: place.folder,
    env: { ...place.env, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return {
    output: () => output,
    type: (keys) => void child.stdin.write(keys),
    shows: async (pattern) => {
      while (!pattern.test(output)) await once(child.stdout, 'data');
    },
    ended: once(child, 'close').then(() => {}),
  };
}
