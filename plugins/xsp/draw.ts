import { type AnalysisTable, linePlot, ownValue, scatterPlot } from '../../src/plugin-api.js';

type Draw = (table: AnalysisTable) => string | undefined;

function numberIn(row: AnalysisTable['rows'][number], key: string): number | undefined {
  const value = ownValue(row, key);
  return typeof value === 'number' ? value : undefined;
}

/** Values of columns over the rows: along a model, or by type. */
export function drawRows(
  title: string,
  [xTitle, position]: readonly [title: string, key: string],
  yTitle: string,
  series: readonly (readonly [label: string, key: string])[],
): Draw {
  return ({ rows }) => {
    if (!rows.some((row) => series.some(([, key]) => numberIn(row, key) !== undefined))) return undefined;
    return linePlot({
      title,
      xTitle,
      yTitle,
      positions: rows.map((row) => String(ownValue(row, position) ?? '')),
      series: series.map(([label, key]) => ({ label, values: rows.map((row) => numberIn(row, key)) })),
    });
  };
}

/** Kernels below the roofs of their machine, as the columns of a roofline state them. */
export function drawRoofline(title: string, name: string): Draw {
  return ({ rows }) => {
    const points = rows.flatMap((row) => {
      const [x, y] = [numberIn(row, 'arithmetic_intensity'), numberIn(row, 'arithmetic_throughput')];
      if (x === undefined || y === undefined || x <= 0 || y <= 0) return [];
      return [
        {
          x,
          y,
          label: `${ownValue(row, name) ?? ''}: ${x.toPrecision(3)} operations/byte, ${y.toPrecision(3)} GFLOP/s`,
        },
      ];
    });
    const roofs = new Map<string, { label: string; slope: number; limit: number }>();
    for (const row of rows) {
      const [limit, slope] = [numberIn(row, 'theoretical_gflops'), numberIn(row, 'memory_bandwidth')];
      if (limit === undefined || slope === undefined) continue;
      const label = `${limit.toPrecision(3)} GFLOP/s, ${slope.toPrecision(3)} GB/s`;
      roofs.set(label, { label, slope, limit });
    }
    const axes = { xTitle: 'operations for each byte', yTitle: 'GFLOP/s' };
    return scatterPlot({ title, ...axes, points, roofs: [...roofs.values()] });
  };
}
