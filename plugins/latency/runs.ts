import { type Analysis, EVALUATION_DOCUMENTS, z } from '../../src/plugin-api.js';
import { percentileOf } from './percentile.js';

const settings = z.strictObject({
  // Whole numbers, because the key of an analysis' column has no dot.
  percentiles: z.array(z.int().min(1).max(99)).min(1).max(20).default([50, 90, 99]),
});

/** A model on a system, and its runs on all occasions. */
interface Group {
  readonly cells: Readonly<Record<string, string | number>>;
  readonly runMs: number[];
}

/** The spread of the runs of whole models, from the platform's own documents of all plugins. */
export const runs: Analysis<z.infer<typeof settings>> = {
  name: 'runs',
  description: 'percentiles of the runs of whole models, by system and batch size',
  settings,

  async run({ percentiles }, { store }) {
    const asked = [...new Set(percentiles)];
    const groups = new Map<string, Group>();
    for await (const { model, framework, batch_size, metadata } of store.collection(EVALUATION_DOCUMENTS).find({})) {
      const { signature = '', system = '', protocol = '', threads = '' } = metadata;
      const measurement = (await store.findMeasurements([signature], system, protocol)).get(signature);
      if (measurement?.outcome.kind !== 'samples') continue;
      const key = JSON.stringify([model.name, batch_size, system]);
      const cells = {
        model: model.name,
        processor: measurement.system.processor,
        framework: `${framework.name} ${framework.version}`,
        threads,
        batch: batch_size,
      };
      const group: Group = groups.get(key) ?? { cells, runMs: [] };
      groups.set(key, group);
      for (const ms of measurement.outcome.runMs) group.runMs.push(ms);
    }
    const rows = [...groups.values()].map(({ cells, runMs }) => {
      const sorted = runMs.toSorted((a, b) => a - b);
      const found = Object.fromEntries(asked.map((p) => [`p${p}_ms`, percentileOf(sorted, p)]));
      return { ...cells, runs: sorted.length, ...found };
    });
    const left = (key: string) => ({ key, title: key, align: 'left' as const });
    const right = (key: string) => ({ key, title: key, align: 'right' as const });
    return {
      columns: [
        ...['model', 'processor', 'framework'].map(left),
        ...['threads', 'batch', 'runs'].map(right),
        ...asked.map((p) => ({ key: `p${p}_ms`, title: `p${p}`, unit: 'ms', align: 'right' as const })),
      ],
      rows: rows.toSorted((a, b) => JSON.stringify(Object.values(a)).localeCompare(JSON.stringify(Object.values(b)))),
      notes: rows.length === 0 ? ['The store has no whole models; `mlmodelscope evaluate` measures some.'] : [],
    };
  },
};
