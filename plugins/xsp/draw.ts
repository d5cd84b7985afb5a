import { type AnalysisTable, groupedBy, linePlot, ownValue, scatterPlot } from '../../src/plugin-api.js';

type Draw = (table: AnalysisTable) => string | undefined;

function readNumber(row: AnalysisTable['rows'][number], key: string): number | undefined {
  const value = ownValue(row, key);
  return typeof value === 'number' ? value : undefined;
}

export function drawRows(
  title: string,
  [xTitle, position]: readonly [title: string, key: string],
  yTitle: string,
  series: readonly (readonly [label: string, key: string])[],
): Draw {
  return ({ rows }) => {
    if (!rows.some((row) => series.some(([, key]) => readNumber(row, key) !== undefined))) return undefined;
    return linePlot({
      title,
      xTitle,
      yTitle,
      positions: rows.map((row) => String(ownValue(row, position) ?? '')),
      series: series.map(([label, key]) => ({ label, values: rows.map((row) => readNumber(row, key)) })),
    });
  };
}

/** Quartiles of each row, and the ends of all of its values. */
export function drawBoxes(
  title: string,
  [xTitle, position]: readonly [title: string, key: string],
  yTitle: string,
): Draw {
  return ({ rows }) => {
    const boxes = rows.map((row) => {
      const [least, from, to, most] = ['min_us', 'q1_us', 'q3_us', 'max_us'].map((key) => readNumber(row, key));
      const isKnown = least !== undefined && from !== undefined && to !== undefined && most !== undefined;
      return isKnown ? { least, from, to, most } : undefined;
    });
    if (boxes.every((box) => box === undefined)) return undefined;
    const positions = rows.map((row) => String(ownValue(row, position) ?? ''));
    const series = [{ label: 'median', values: rows.map((row) => readNumber(row, 'median_us')) }];
    return linePlot({ title, xTitle, yTitle, positions, series, boxes });
  };
}

export function drawStacks(title: string, part: string, [yTitle, key]: readonly [title: string, key: string]): Draw {
  return ({ rows }) => {
    const models = groupedBy(rows, (row) =>
      [ownValue(row, 'model_name'), ownValue(row, 'system') ?? ''].join(' ').trim(),
    );
    const parts = [...new Set(rows.map((row) => String(ownValue(row, part) ?? '')))];
    if (!rows.some((row) => readNumber(row, key) !== undefined)) return undefined;
    const valueOf = (of: AnalysisTable['rows'], label: string): number | undefined => {
      const row = of.find((one) => ownValue(one, part) === label);
      return row && readNumber(row, key);
    };
    return linePlot({
      title,
      xTitle: 'model',
      yTitle,
      positions: [...models.keys()],
      series: parts.map((label) => ({ label, values: [...models.values()].map((of) => valueOf(of, label)) })),
      isStacked: true,
    });
  };
}

/** Kernels below the roofs of their machine, as the columns of a roofline state them. */
export function drawRoofline(title: string, name: string): Draw {
  return ({ rows }) => {
    const points = rows.flatMap((row) => {
      const x = readNumber(row, 'arithmetic_intensity');
      const y = readNumber(row, 'arithmetic_throughput');
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
      const limit = readNumber(row, 'theoretical_gflops');
      const slope = readNumber(row, 'memory_bandwidth');
      if (limit === undefined || slope === undefined) continue;
      const label = `${limit.toPrecision(3)} GFLOP/s, ${slope.toPrecision(3)} GB/s`;
      roofs.set(label, { label, slope, limit });
    }
    const axes = { xTitle: 'operations for each byte', yTitle: 'GFLOP/s' };
    const missing = roofs.size > 0 ? '' : " (no roofs: 'mlmodelscope machine --threads N' measures them)";
    return scatterPlot({ title: title + missing, ...axes, points, roofs: [...roofs.values()] });
  };
}
