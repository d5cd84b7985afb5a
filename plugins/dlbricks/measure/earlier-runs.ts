import {
  identifySystem,
  optimizedRun,
  type Protocol,
  protocolKey,
  type ResultStore,
  subjectKey,
  type System,
  unlessUnavailable,
} from '../../../src/plugin-api.js';
import { identifyProcess, occasionSummary } from '../estimate/brick-latency.js';
import type { Earlier } from '../estimate/spreads-of-system.js';
import type { Occurrence } from '../estimate/variance-components.js';

/** In the order of signatures, which are hashes: the first ones are a random choice of benchmarks. */
const MAX_READ = 5000;

/**
 * Bricks at the layer cut are measured like whole models, but on one occasion only.
 *
 * @throws PlatformError as the store does; where its server is gone, nothing is known
 */
export async function earlierRuns(
  store: Pick<ResultStore, 'listMeasurements'>,
  system: System,
  protocol: Protocol,
): Promise<Earlier> {
  const unoptimized = identifySystem(system, optimizedRun(system.runOptions));
  const asked = protocolKey(protocol);
  const bricks: Occurrence[] = [];
  const wholes = new Map<string, number[]>();
  const read = async (): Promise<void> => {
    let count = 0;
    for await (const measurement of store.listMeasurements()) {
      if (count++ === MAX_READ) return;
      const { signature, context, outcome } = measurement;
      if (outcome.kind === 'failure' || protocolKey(measurement.protocol) !== asked) continue;
      const { fingerprint } = measurement.system;
      const { ms } = occasionSummary(outcome);
      if (context !== undefined && fingerprint === unoptimized.fingerprint) {
        bricks.push({ brick: subjectKey(signature, context), process: identifyProcess(measurement), ms });
      } else if (context === undefined && fingerprint === system.fingerprint) {
        const occasions = wholes.get(signature) ?? [];
        wholes.set(signature, occasions);
        occasions.push(ms);
      }
    }
  };
  await unlessUnavailable(read());
  return { bricks, wholes };
}
