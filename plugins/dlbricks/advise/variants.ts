import {
  type BenchmarkAgent,
  DEFAULT_RUNTIME,
  layerGraph,
  isCompletelyTyped,
  type LayerGraph,
  type KernelsOfLayers,
  layersOfKernels,
  type LoadedModel,
  messageOf,
  buildRunOptions,
  type RunOptions,
  type RuntimeSettings,
} from '../../../src/plugin-api.js';
import { decompose, graphToCut, buildWholeBenchmark } from '../bricks/decompose.js';
import type { PreparedModel } from '../bricks/prepare-model.js';

export interface Setting {
  readonly name: string;
  readonly runtime: RuntimeSettings;
}

function setting(name: string, changes: Partial<RuntimeSettings>): Setting {
  return { name, runtime: { ...DEFAULT_RUNTIME, ...changes } };
}

export const AS_TODAY = setting('the default', {});

const OTHERS: readonly Setting[] = [
  setting('--optimization-level extended', { optimization_level: 'extended' }),
  setting('--optimization-level basic', { optimization_level: 'basic' }),
  setting('--optimization-level disabled', { optimization_level: 'disabled' }),
  setting('--session session.disable_prepacking=1', { session: { 'session.disable_prepacking': '1' } }),
];

/** With threads, further settings change how they wait. */
const OF_THREADS = setting('--session session.intra_op.allow_spinning=0', {
  session: { 'session.intra_op.allow_spinning': '0' },
});

export function settingsFor(threads: number): readonly Setting[] {
  return [AS_TODAY, ...OTHERS, ...(threads > 1 ? [OF_THREADS] : [])];
}

export interface Variant {
  readonly setting: Setting;
  readonly runOptions: RunOptions;
  readonly prepared: Pick<PreparedModel, 'recipe' | 'bricks' | 'roughMs'>;
  readonly graph: LayerGraph;
  readonly kernels: KernelsOfLayers;
  readonly isSameGraph: boolean;
}

export function runKey(variant: Variant): string {
  return `${graphKey(variant.prepared)} ${sessionKey(variant)}`;
}

export function sessionKey({ runOptions }: Pick<Variant, 'runOptions'>): string {
  return JSON.stringify(runOptions.session ?? []);
}

function graphKey({ recipe }: Variant['prepared']): string {
  return JSON.stringify([recipe.sequences.map((brick) => recipe.bricks[brick]?.signature), recipe.edges]);
}

export async function prepareVariants(
  loaded: LoadedModel,
  settings: readonly Setting[],
  threads: number,
  agent: BenchmarkAgent,
  signal: AbortSignal,
) {
  const cut = { cut: 'kernel', granularity: 1, shorten: 'never' } as const;
  const filled = buildWholeBenchmark(loaded, {});
  const usual = buildRunOptions(threads, agent.description);
  const source = isCompletelyTyped(loaded.model)
    ? layerGraph(loaded.model)
    : (await graphToCut(loaded, { cut: 'layer', runOptions: usual }, agent, signal)).graph;
  const variants: Variant[] = [];
  const refused: { setting: Setting; reason: string }[] = [];
  for (const one of settings) {
    const runOptions = buildRunOptions(threads, agent.description, one.runtime);
    try {
      const { decomposed, graph } = await decompose(loaded, { ...cut, runOptions }, agent, signal, { filled });
      const [first] = variants;
      const isSameGraph = first !== undefined && graphKey(first.prepared) === graphKey(decomposed);
      const kernels = layersOfKernels(source, graph.layers);
      variants.push({ setting: one, runOptions, prepared: decomposed, graph, kernels, isSameGraph });
    } catch (error) {
      if (one === AS_TODAY || signal.aborted) throw error;
      refused.push({ setting: one, reason: messageOf(error) });
    }
  }
  return { source, variants, refused };
}
