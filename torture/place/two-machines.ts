import { execFileSync } from 'node:child_process';
import type { Lifetime } from '../../test/support/lifetime.js';

/** Addresses of the two ends of the cable, which no other machine sees. */
export const HERE = '10.0.0.1';
export const THERE = '10.0.0.2';

/** The cable's name at both ends. */
const CABLE = 'cable';

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Two network namespaces of this machine with a cable between them. */
export interface TwoMachines {
  /** The beginning of a command line that runs at an end of the cable. */
  readonly here: readonly string[];
  readonly there: readonly string[];
  readonly cut: () => void;
  readonly mend: () => void;
}

let made = 0;

export function twoMachines(lifetime: Lifetime): TwoMachines {
  const name = `torture-${process.pid}-${++made}`;
  const here = `${name}-here`;
  const there = `${name}-there`;
  for (const namespace of [here, there]) {
    ip('netns', 'add', namespace);
    lifetime.after(() => ip('netns', 'delete', namespace));
  }
  ip('-n', here, 'link', 'add', CABLE, 'type', 'veth', 'peer', 'name', CABLE, 'netns', there);
  for (const [namespace, address] of [
    [here, HERE],
    [there, THERE],
  ] as const) {
    ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', CABLE);
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
    ip('-n', namespace, 'link', 'set', CABLE, 'up');
  }
  const through = (namespace: string): readonly string[] => ['ip', 'netns', 'exec', namespace];
  return {
    here: through(here),
    there: through(there),
    cut: () => ip('-n', here, 'link', 'set', CABLE, 'down'),
    mend: () => ip('-n', here, 'link', 'set', CABLE, 'up'),
  };
}

/** The missing requirement of {@link twoMachines}; undefined where it can be made. */
export function missingForTwoMachines(): string | undefined {
  const undo: (() => unknown)[] = [];
  try {
    twoMachines({ after: (one) => void undo.push(one) });
    return undefined;
  } catch {
    return 'network namespaces, which root has by the command ip';
  } finally {
    for (const one of undo) one();
  }
}
