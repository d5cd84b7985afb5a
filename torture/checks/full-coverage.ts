import type { Ending } from '../../test/cli/support/command.js';
import { reportIn } from '../../test/cli/support/report.js';

/** @throws where a command did not end well, or its report on standard output lacks a measurement */
export function assertFullCoverage({ code, stdout, stderr }: Ending): void {
  if (code !== 0) throw new Error(`the command ended with ${code}: ${stderr}`);
  const { models } = reportIn({ stdout });
  const coverage = models.map((model) => model.coverage);
  if (coverage.length === 0 || coverage.some((share) => share < 1)) {
    throw new Error(`not everything was measured: the coverage is ${coverage.join(', ')}`);
  }
}
