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
import { processOf, occasionSummary } from '../estimate/brick-latency.js';
import type { Earlier } from '../estimate/spreads-of-system.js';
import type { Occurrence } from '../estimate/variance-components.js';

/**
 * Most measurements that are read. The order is that of signatures, which are hashes, so that the first ones are a
 * random choice of benchmarks, each with all its occasions.
 */
const MAX_READ = 5000;

/**
 * Bricks in context and whole models of a system that the store has, with the same protocol. Whole models are measured
 * alone, with the runtime's optimizer, and so are bricks at the layer cut, but those on one occasion only.
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
        bricks.push({ brick: subjectKey(signature, context), process: processOf(measurement), ms });
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
