import { readFileSync, rmSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { coverWhole, type MappedFile, mappedRanges } from './mapped-ranges.js';

const POLL_MS = 2;

const files = workerData as readonly MappedFile[];
parentPort?.postMessage('ready');
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const look = (): ReturnType<typeof mappedRanges> => mappedRanges(readFileSync('/proc/self/maps', 'utf8'));
// The runtime may unmap the first weight before this thread sees the last one mapped, so two looks count together.
let before = look();
let now = look();
while (!coverWhole([...before, ...now], files)) {
  Atomics.wait(never, 0, 0, POLL_MS);
  [before, now] = [now, look()];
}
for (const { path } of files) rmSync(path, { force: true });
