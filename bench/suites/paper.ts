/** A row of the paper's evaluation. */
export interface PaperRow {
  readonly layers: number;
  /** Different layers within the model. */
  readonly uniqueLayers: number;
  /** Sum of the layers' latencies over the whole model's; null where the authors have no times of its layers. */
  readonly normalized: number | null;
}

/**
 * Layers, unique layers and normalized latency of rows 1 to 50, one layer for each brick. Source: github.com/rai-
 * project/synthetic_benchmark, the authors' data of 2019-10-18 (c5.xlarge, MXNet 1.5.1); latencies are means of the
 * middle 30 of 50 runs.
 */
const ROWS: readonly (readonly [layers: number, uniqueLayers: number, normalized: number | null])[] = [
  [142, 58, 0.9784],
  [40, 26, 0.9752],
  [40, 26, 0.9758],
  [53, 40, 0.8735],
  [40, 26, 0.9782],
  [147, 112, 0.9546],
  [147, 112, 0.9591],
  [147, 112, 0.9581],
  [311, 100, 0.9488],
  [153, 70, 0.955],
  [347, 48, 0.9397],
  [344, 56, 0.9157],
  [517, 48, 0.942],
  [177, 48, 0.8976],
  [874, 82, 0.9749],
  [69, 41, 0.945],
  [40, 26, 0.9828],
  [46, 26, 0.9742],
  [176, 51, 0.938],
  [232, 109, 0.9444],
  [177, 49, 0.9639],
  [109, 40, 1.0007],
  [58, 29, 0.968],
  [62, 44, 0.9616],
  [62, 43, 0.9701],
  [94, 21, 0.9896],
  [94, 21, 0.9856],
  [94, 21, 0.9866],
  [94, 21, 0.9879],
  [96, 23, 0.9872],
  [94, 21, 0.9874],
  [96, 23, 0.9877],
  [94, 21, 0.9886],
  [94, 21, 0.9886],
  [94, 21, 0.9896],
  [56, 50, 0.988],
  [56, 50, 0.9884],
  [40, 5, 0.988],
  [145, 123, 0.9764],
  [157, 135, 0.9877],
  [106, 73, 0.9645],
  [967, 112, 0.9605],
  [967, 112, 0.9679],
  [501, 90, 0.9894],
  [501, 90, 1.0074],
  [501, 90, 0.9854],
  [1029, 40, 0.9697],
  [141, 45, 0.995],
  [141, 45, 0.9976],
  [53, 43, null],
];

/** The paper's row, from 1. */
export function paperRow(row: number): PaperRow | undefined {
  const found = ROWS[row - 1];
  if (found === undefined) return undefined;
  const [layers, uniqueLayers, normalized] = found;
  return { layers, uniqueLayers, normalized };
}

/** All rows together, from the same data by the paper's rules. */
export const PAPER = {
  models: 50,
  /** Models with times of their layers. */
  compared: 49,
  layers: 10_815,
  unique: 1529,
  geomeanNormalized: 0.9695,
  meanErrorPercent: 3.05,
  worstErrorPercent: 12.7,
  within5Percent: 40,
  /** One run of every model over one run of every unique layer. */
  speedup: 4.373,
} as const;
