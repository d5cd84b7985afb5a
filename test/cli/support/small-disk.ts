import { spawnSync } from 'node:child_process';

/** The reason why a test that mounts a disk cannot run here, or false. */
export function unlessMounts(): string | false {
  const { status } = spawnSync('unshare', ['--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return status !== 0 && 'needs name spaces in which a user may mount a small disk';
}

/** The words before a command that put the folder which this variable names on a disk of this size. */
export function onDisk(size: string, variable: string): readonly string[] {
  const script = `mkdir -p "$${variable}" && mount -t tmpfs -o size=${size} small "$${variable}" && exec "$@"`;
  return ['unshare', '--map-root-user', '--mount', 'sh', '-c', script, 'sh'];
}
