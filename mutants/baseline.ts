import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Counts, readCoverage } from './coverage.js';
import { runTests } from './run-tests.js';
import type { Sandbox } from './sandbox.js';

/** A test file that passes without a defect. */
export interface PassingTest {
  /** The compiled file, relative to the folder of compiled modules. */
  readonly path: string;
  readonly durationMs: number;
  readonly coverage: ReadonlyMap<string, Counts>;
}

const SILENCE_MS = 300_000;

/**
 * Runs a test without a defect, to learn how long it takes and what it executes.
 *
 * @throws Error where it fails
 */
export async function passingTest(path: string, sandbox: Sandbox): Promise<PassingTest> {
  const folder = await mkdtemp(join(tmpdir(), 'coverage-'));
  try {
    const environment = { NODE_V8_COVERAGE: folder };
    const { outcome, durationMs } = await runTests([join(sandbox.folder, path)], SILENCE_MS, environment);
    if (outcome !== 'passed') throw new Error(`${path} does not pass without a defect: ${outcome}`);
    return { path, durationMs, coverage: await readCoverage(folder, sandbox.base) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
