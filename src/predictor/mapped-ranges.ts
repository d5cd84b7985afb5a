import { groupedBy } from '../base/grouped-by.js';

/** A line of Linux's /proc/PID/maps: address range, permissions, offset, device, inode, path. Source: proc_pid_maps(5). */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(.+)$/;

export interface MappedFile {
  readonly path: string;
  readonly byteLength: number;
}

function hex(digits: string | undefined): number {
  return Number.parseInt(digits ?? '', 16);
}

interface MappedRange {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** @param maps the content of /proc/PID/maps */
export function mappedRanges(maps: string): readonly MappedRange[] {
  return maps.split('\n').flatMap((line) => {
    const [, from, to, offset, path] = MAPPING.exec(line) ?? [];
    return path === undefined ? [] : [{ path, start: hex(offset), end: hex(offset) + hex(to) - hex(from) }];
  });
}

function coversFrom0(ranges: readonly MappedRange[], byteLength: number): boolean {
  let covered = 0;
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (start > covered) return false;
    covered = Math.max(covered, end);
  }
  return covered >= byteLength;
}

export function coverWhole(ranges: readonly MappedRange[], files: readonly MappedFile[]): boolean {
  const ofPath = groupedBy(ranges, ({ path }) => path);
  return files.every(({ path, byteLength }) => coversFrom0(ofPath.get(path) ?? [], byteLength));
}
