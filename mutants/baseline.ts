import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Counts, readCoverage } from './coverage.js';
import { runTests } from './run-tests.js';
import type { Sandbox } from './sandbox.js';

/** A test file that passes on the program without a defect. */
export interface PassingTest {
  /** The compiled file, relative to the folder of compiled modules. */
  readonly path: string;
  readonly durationMs: number;
  readonly coverage: ReadonlyMap<string, Counts>;
}

const SILENCE_MS = 300_000;

const KILLED_COVERAGE = new URL('killed-coverage.js', import.meta.url).href;

function assertPassed(what: string, outcome: string): void {
  if (outcome !== 'passed') throw new Error(`${what} without a defect: ${outcome}; make test shows why`);
}

/** Runs a test file on the program without a defect; records its duration and its coverage. */
async function passingTest(path: string, sandbox: Sandbox): Promise<PassingTest> {
  const folder = await mkdtemp(join(sandbox.temporary, 'coverage-'));
  const environment = { NODE_V8_COVERAGE: folder, NODE_OPTIONS: `--import=${KILLED_COVERAGE}` };
  const { outcome, durationMs } = await runTests([join(sandbox.folder, path)], SILENCE_MS, environment);
  assertPassed(path, outcome);
  const coverage = await readCoverage(folder, sandbox.base);
  await rm(folder, { recursive: true });
  return { path, durationMs, coverage };
}

/**
 * Runs test files on the program without a defect, one by one and together.
 *
 * @param sources the files before they are compiled
 * @throws Error where one fails
 */
export async function passingTests(sources: readonly string[], sandbox: Sandbox): Promise<readonly PassingTest[]> {
  const passing: PassingTest[] = [];
  for (const source of sources) passing.push(await passingTest(source.replace(/\.ts$/, '.js'), sandbox));
  const paths = passing.map(({ path }) => join(sandbox.folder, path));
  assertPassed('tests together', (await runTests(paths, SILENCE_MS, {})).outcome);
  return passing;
}
