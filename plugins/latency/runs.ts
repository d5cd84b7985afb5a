import {
  type Analysis,
  EVALUATION_DOCUMENTS,
  type Protocol,
  protocolDifferences,
  shortIds,
  type System,
  systemDifferences,
  z,
} from '../../src/plugin-api.js';
import { percentileMs, runsFor } from './percentile.js';

const settings = z.strictObject({
  // Whole numbers, because the key of an analysis' column has no dot.
  percentiles: z.array(z.int().min(1).max(99)).min(1).max(20).default([50, 90, 95]),
});

interface Group {
  readonly model: string;
  readonly signature: string;
  /** As in seq=128, past=0; '' where all dimensions have a size; null where not known. */
  readonly dimensions: string | null;
  readonly batch: number;
  readonly protocol: Protocol;
  readonly system: System;
  readonly runMs: number[];
}

/** What differs between groups that the other columns show as the same. */
function distinguishSettings(groups: readonly Group[]): (group: Group) => string {
  const ofProtocol = protocolDifferences(groups.map(({ protocol }) => protocol));
  const systems = groups.map(({ system }) => system);
  const ofSystem = systemDifferences(systems, ['processor', 'framework', 'threads']);
  return ({ protocol, system }) => [ofProtocol(protocol), ofSystem(system)].filter((text) => text !== '').join(', ');
}

/** From the platform's own documents of all plugins. */
export const runs: Analysis<z.infer<typeof settings>> = {
  name: 'runs',
  description: 'percentiles of the runs of whole models, by graph, dimensions, settings and system',
  settings,

  async run({ percentiles }, { store }) {
    const asked = [...new Set(percentiles)];
    const groups = new Map<string, Group>();
    for await (const { model, batch_size: batch, metadata } of store.collection(EVALUATION_DOCUMENTS).find({})) {
      const { signature = '', system: fingerprint = '', protocol: setup = '', dimensions = null } = metadata;
      const measurement = (await store.findMeasurements([signature], fingerprint, setup)).get(signature);
      if (measurement?.outcome.kind !== 'samples') continue;
      const { protocol, system } = measurement;
      const key = JSON.stringify([model.name, signature, batch, fingerprint, protocol]);
      const group = groups.get(key) ?? { model: model.name, signature, dimensions, batch, protocol, system, runMs: [] };
      groups.set(key, group);
      for (const ms of measurement.outcome.runMs) group.runMs.push(ms);
    }
    const listed = [...groups.values()];
    const short = shortIds(listed.map(({ signature }) => signature));
    const differing = distinguishSettings(listed);
    const rows = listed.map((group) => {
      const { model, signature, dimensions, batch, system, runMs } = group;
      const sorted = runMs.toSorted((a, b) => a - b);
      return {
        model,
        signature: short(signature),
        dimensions,
        settings: differing(group),
        ...Object.fromEntries(asked.map((p) => [`p${p}_ms`, percentileMs(sorted, p)])),
        runs: sorted.length,
        batch,
        threads: system.runOptions.threads,
        processor: system.processor,
        framework: `${system.framework} ${system.frameworkVersion}`,
      };
    });
    const left = (key: string) => ({ key, title: key, align: 'left' as const });
    const right = (key: string) => ({ key, title: key, align: 'right' as const });
    const notShown = asked.filter((p) => rows.some(({ runs: count }) => count < runsFor(p)));
    return {
      columns: [
        ...['model', 'signature', 'dimensions', 'settings'].map(left),
        ...asked.map((p) => ({ key: `p${p}_ms`, title: `p${p}`, unit: 'ms', align: 'right' as const })),
        ...['runs', 'batch', 'threads'].map(right),
        ...['processor', 'framework'].map(left),
      ],
      rows: rows.toSorted((a, b) => JSON.stringify(Object.values(a)).localeCompare(JSON.stringify(Object.values(b)))),
      notes: [
        ...(rows.length === 0 ? ['The store has no whole models; `mlmodelscope latency` times some.'] : []),
        ...notShown.map((p) => `p${p} needs ${runsFor(p)} runs; rows with fewer have none.`),
      ],
    };
  },
};
