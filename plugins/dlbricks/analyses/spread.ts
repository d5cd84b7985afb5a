import { type Analysis, setupKey, shortIds, type System, systemDifferences, z } from '../../../src/plugin-api.js';
import { occasionSummary } from '../estimate/brick-latency.js';
import { pooledSpread } from '../estimate/statistics.js';

const settings = z.strictObject({
  /** Benchmarks with fewer occasions are left out. */
  occasions: z.int().min(2).max(100).default(2),
});

export const spread: Analysis<z.infer<typeof settings>> = {
  name: 'spread',
  description: 'standard deviation between occasions of the same benchmark, by system',
  settings,

  async run({ occasions }, { store }) {
    /** Latencies of each benchmark on its occasions, ms, by signature, protocol and context. */
    const systems = new Map<string, { readonly system: System; readonly benchmarks: Map<string, number[]> }>();
    for await (const { signature, system, protocol, context, outcome } of store.listMeasurements()) {
      if (outcome.kind !== 'samples') continue;
      const ofSystem = systems.get(system.fingerprint) ?? { system, benchmarks: new Map<string, number[]>() };
      systems.set(system.fingerprint, ofSystem);
      const key = `${signature} ${setupKey({ protocol, context, occasion: 1 })}`;
      const latencies = ofSystem.benchmarks.get(key) ?? [];
      ofSystem.benchmarks.set(key, latencies);
      latencies.push(occasionSummary(outcome).ms);
    }
    const listed = [...systems.values()].map(({ system }) => system);
    const short = shortIds(systems.keys());
    const differing = systemDifferences(listed, ['processor', 'framework', 'threads']);
    const rows = [...systems.values()].map(({ system, benchmarks }) => {
      const repeated = [...benchmarks.values()].filter(({ length }) => length >= occasions);
      const pooled = pooledSpread(repeated.map((values) => ({ values, weight: 1 })));
      return {
        processor: system.processor,
        system: short(system.fingerprint),
        framework: `${system.framework} ${system.frameworkVersion}`,
        threads: system.runOptions.threads,
        settings: differing(system),
        benchmarks: benchmarks.size,
        repeated: repeated.length,
        spread_percent: pooled === undefined ? null : pooled.relative * 100,
      };
    });
    return {
      columns: [
        { key: 'processor', title: 'processor', align: 'left' },
        { key: 'system', title: 'system', align: 'left' },
        { key: 'framework', title: 'framework', align: 'left' },
        { key: 'threads', title: 'threads', align: 'right' },
        { key: 'settings', title: 'settings', align: 'left' },
        { key: 'benchmarks', title: 'benchmarks', align: 'right' },
        { key: 'repeated', title: 'repeated', align: 'right' },
        { key: 'spread_percent', title: 'spread', unit: '%', align: 'right' },
      ],
      rows,
      notes: [
        `Spread: standard deviation of one occasion, pooled over benchmarks with at least ${occasions} occasions, whole models included.`,
      ],
    };
  },
};
