/** A line of Linux's /proc/PID/maps: address range, permissions, offset, device, inode, path. Source: proc_pid_maps(5). */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(.+)$/;

function hex(digits: string | undefined): number {
  return Number.parseInt(digits ?? '', 16);
}

/**
 * Whether all of a file is mapped.
 *
 * @param maps the content of /proc/PID/maps
 * @param byteLength size of the file
 */
export function isMappedWhole(maps: string, path: string, byteLength: number): boolean {
  const ranges = maps.split('\n').flatMap((line) => {
    const [, from, to, offset, file] = MAPPING.exec(line) ?? [];
    return file === path ? [{ start: hex(offset), end: hex(offset) + hex(to) - hex(from) }] : [];
  });
  let mapped = 0;
  for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
    if (start > mapped) return false;
    mapped = Math.max(mapped, end);
  }
  return mapped >= byteLength;
}
