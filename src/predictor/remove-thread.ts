// The thread of remove-when-mapped.ts.
import { readFileSync, rmSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { isMappedWhole } from './mapped-ranges.js';
import type { WatchedFile } from './remove-when-mapped.js';

const POLL_MS = 10;

const { path, byteLength } = workerData as WatchedFile;
parentPort?.postMessage('ready');
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
while (!isMappedWhole(readFileSync('/proc/self/maps', 'utf8'), path, byteLength)) Atomics.wait(never, 0, 0, POLL_MS);
rmSync(path, { force: true });
