import { join } from 'node:path';
import type { PassingTest } from './baseline.js';
import { isExecuted } from './coverage.js';
import type { Mutant } from './mutant.js';
import { runTests, type TestRun } from './run-tests.js';
import type { Sandbox } from './sandbox.js';

/** A mutant is stuck when a test does not end, because of the defect or because the machine was too busy. */
export type Fate = 'killed' | 'stuck' | 'survived' | 'not executed';

const FATES: Record<TestRun['outcome'], Fate> = { failed: 'killed', stuck: 'stuck', passed: 'survived' };

/** Timeout between two results. A file's results may all come at its end, and a busy machine is slower. */
function silenceMs(tests: readonly PassingTest[]): number {
  return 3 * Math.max(...tests.map(({ durationMs }) => durationMs)) + 5000;
}

/** Runs tests against mutants. A mutant is killed when a test fails. */
export class Hunter {
  constructor(private readonly tests: readonly PassingTest[]) {}

  async hunt(mutant: Mutant, sandbox: Sandbox): Promise<Fate> {
    const executing = this.tests
      .filter(({ coverage }) => isExecuted(coverage.get(mutant.module) ?? [], mutant.offset))
      .sort((a, b) => a.durationMs - b.durationMs);
    if (executing.length === 0) return 'not executed';
    const paths = executing.map(({ path }) => join(sandbox.folder, path));
    const { outcome } = await sandbox.with(mutant, () => runTests(paths, silenceMs(executing), {}));
    return FATES[outcome];
  }
}
