import {
  type AgentDescription,
  type EvaluationRequest,
  PlatformError,
  type RuntimeAxes,
  combineRuntimes,
  checkDimensions,
  combine,
  isFirstOf,
  type LoadedModel,
  type UnusableModel,
  unusableModel,
  withSizes,
} from '../../src/plugin-api.js';
import { chooseGranularity } from './bricks/decompose.js';
import type { Cut } from './cut/cut.js';
import { type Matrix, type Settings, settingsSchema } from './settings.js';

interface SizeAxes {
  readonly batch?: readonly number[] | undefined;
  readonly dimension?: ReadonlyMap<string, readonly number[]> | undefined;
  /** Those of `dimension` that were given on the command line; the others are a manifest's. */
  readonly asked?: ReadonlyMap<string, unknown> | undefined;
}

interface SizedModels {
  readonly batch: number;
  readonly models: readonly LoadedModel[];
  readonly unusable: readonly UnusableModel[];
}

/**
 * The models once for each combination of the sizes. A model without a dimension is in one of the combinations that
 * differ in nothing else. A combination without models is left out.
 *
 * @throws PlatformError `usage` for a dimension that no model has
 */
function sizedModels(
  loaded: SizedModels,
  { batch: batches = [loaded.batch], dimension, asked }: SizeAxes,
): readonly SizedModels[] {
  // The dimensions of a model that could not be read are not known.
  if (loaded.unusable.length === 0) {
    checkDimensions(loaded.models, dimension, (name) =>
      asked?.has(name) === true ? `--dimension ${name}` : `matrix.dimensions.${name}`,
    );
  }
  const combinations = combine<number>(dimension);
  const sized = batches.flatMap((batch) =>
    combinations.map((dimensions, index): SizedModels => {
      const models: LoadedModel[] = [];
      const unusable: UnusableModel[] = index === 0 ? [...loaded.unusable] : [];
      for (const model of loaded.models) {
        if (!isFirstOf(combinations, index, model.symbols)) continue;
        try {
          models.push(withSizes(model, loaded.batch, { batch, dimensions }));
        } catch (error) {
          unusable.push(unusableModel(model.name, error));
        }
      }
      return { batch, models, unusable };
    }),
  );
  return sized.filter(({ models, unusable }) => models.length + unusable.length > 0);
}

export const AUTO = 'auto';

export type Granularity = number | typeof AUTO;

export interface CellAxes extends RuntimeAxes {
  readonly threads?: readonly number[] | undefined;
  readonly cut?: readonly Cut[] | undefined;
  readonly granularity?: readonly Granularity[] | undefined;
}

function listEntries<T>(lists: Readonly<Record<string, T | undefined>> = {}): readonly (readonly [string, T])[] {
  return Object.entries(lists).flatMap(([name, list]) => (list === undefined ? [] : [[name, list] as const]));
}

/** The axes of a manifest's matrix. Those of a command line win. */
export function mergeAxes(matrix: Matrix | undefined, asked: CellAxes & SizeAxes = {}): CellAxes & SizeAxes {
  return {
    batch: asked.batch ?? matrix?.batch_size,
    dimension: new Map([...listEntries(matrix?.dimensions), ...(asked.dimension ?? [])]),
    asked: asked.dimension,
    threads: asked.threads ?? matrix?.threads,
    cut: asked.cut ?? matrix?.cut,
    granularity: asked.granularity ?? matrix?.granularity,
    optimizationLevel: asked.optimizationLevel ?? matrix?.optimization_level,
    executionMode: asked.executionMode ?? matrix?.execution_mode,
    interOpThreads: asked.interOpThreads ?? matrix?.inter_op_threads,
    session: new Map([...listEntries(matrix?.session), ...(asked.session ?? [])]),
  };
}

export interface Cell {
  readonly threads: number;
  readonly settings: Settings;
}

/** Each cut with each length once, also where the default is one of the others. */
function listCuttings({ cut: cuts, granularity: lengths }: CellAxes, settings: Settings, agent: AgentDescription) {
  const found = new Map<string, Pick<Settings, 'cut' | 'granularity'>>();
  for (const cut of cuts ?? [settings.cut]) {
    for (const length of lengths ?? [settings.granularity]) {
      const granularity = length === AUTO ? undefined : length;
      found.set(`${cut} ${chooseGranularity({ cut, granularity }, agent)}`, { cut, granularity });
    }
  }
  return [...found.values()];
}

/** Settings that only the kernel cut has, beside those that need measurements. */
const OF_KERNEL_CUT = ['shorten', 'target_error'] as const;

function refuseAtLayerCut(settings: Settings): void {
  const usual = settingsSchema.parse({});
  const key = OF_KERNEL_CUT.find((one) => settings[one] !== usual[one]);
  if (key === undefined) return;
  const problem = `${key}: ${settings[key]} cannot be used with cut: layer, which has no use for it`;
  throw new PlatformError('usage', `${problem}; leave one of them out`);
}

/**
 * Each combination of the values.
 *
 * @param byDefault the values that are no axis
 * @throws PlatformError `usage` for a setting that no combination uses
 */
export function listCells(axes: CellAxes, byDefault: Cell, agent: AgentDescription): readonly Cell[] {
  const { settings } = byDefault;
  const cuttings = listCuttings(axes, settings, agent);
  if (cuttings.every(({ cut }) => cut === 'layer')) refuseAtLayerCut(settings);
  return (axes.threads ?? [byDefault.threads]).flatMap((threads) =>
    combineRuntimes(axes, settings).flatMap((runtime) =>
      cuttings.map((cutting) => ({ threads, settings: { ...settings, ...runtime, ...cutting, matrix: undefined } })),
    ),
  );
}

export function listRequests(
  { evaluation, settings }: EvaluationRequest<Settings>,
  axes: CellAxes & SizeAxes,
  agent: AgentDescription,
): readonly EvaluationRequest<Settings>[] {
  const { manifest, models, unusable } = evaluation;
  const { threads, batch_size: bound } = manifest;
  const cells = listCells(axes, { threads, settings }, agent);
  return sizedModels({ models, unusable, batch: bound }, axes).flatMap(({ batch, ...sized }) =>
    cells.map((cell) => {
      const own = { ...manifest, batch_size: batch, threads: cell.threads, matrix: undefined };
      return { evaluation: { ...evaluation, ...sized, manifest: own }, settings: cell.settings };
    }),
  );
}
