import { editedSections } from '../../reference-log/read-log.js';
import type { Log } from '../../reference-log/log-schema.js';
import { type Finding, sorted } from './finding.js';
import { resultFindings } from './result.js';

const MAX_SPREAD = 1.05;

export function logFindings(log: Log): Finding[] {
  const { achieved, conditions, task, resolved, tool, created_at } = log;
  const models = achieved.flat();
  const edited = editedSections(log);
  const { lowest_mhz: lowest, highest_mhz: highest } = conditions;
  const [evaluation] = task.evaluations;
  const result = {
    provenance: {
      ...{ tool, created_at, ...resolved, protocol: null, reasons: {} },
      manifests: task.manifests.map(({ kind, name, version, sha256 }) => ({ kind, name, version, sha256 })),
      // The others have no file with weights, and their graphs are identified.
      models: models.flatMap(({ name, graph_sha256, files_sha256: file_sha256, weights }) => {
        return file_sha256 === null ? [] : { name, graph_sha256, file_sha256, weights };
      }),
    },
    settings: evaluation?.['protocol'] ?? null,
    models: models.map(({ name, runs }) => ({ name, runs })),
    warnings: conditions.warnings,
  };
  const findings = resultFindings(result);
  if (edited.length > 0) {
    findings.push({
      id: 'edited_log',
      level: 'refuse',
      found: `edited after it was written: ${edited.join(', ')}`,
      why: 'its figures are not those that were measured',
      remedy: 'use the log as it was written',
    });
  }
  if (lowest !== null && highest !== null && highest > lowest * MAX_SPREAD) {
    findings.push({
      id: 'frequency',
      level: 'warn',
      found: `the processor ran at ${lowest.toFixed(0)} to ${highest.toFixed(0)} MHz`,
      why: 'a latency follows the frequency that the core has at that moment',
      remedy: 'set a fixed frequency: cpupower frequency-set -g performance',
    });
  }
  return sorted(findings);
}
