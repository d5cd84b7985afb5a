import {
  type BenchmarkAgent,
  isCompletelyTyped,
  layerGraph,
  type LoadedModel,
  type RunOptions,
} from '../../../src/plugin-api.js';
import { cutBrick } from '../bricks/brick.js';
import { graphToCut } from '../bricks/decompose.js';
import { cutSequences } from '../cut/cut.js';
import { lastUses } from '../cut/last-uses.js';
import { findEdges } from '../cut/layer-cut.js';
import { layersKey } from './match-level.js';
import type { FileGraph, Target, TraceSequence, TraceBook } from './trace-book.js';
import { CALL } from './chrome-trace.js';
import { readLayerFacts } from '../work/layer-facts.js';

/** The layers of a file, or the kernels that the agent's runtime makes of them. It measures nothing. */
export async function onnxTarget(
  loaded: LoadedModel,
  settings: { readonly graph: FileGraph; readonly granularity: number; readonly runOptions: RunOptions },
  agent: () => Promise<BenchmarkAgent>,
  signal: AbortSignal,
): Promise<Target> {
  const { granularity, runOptions } = settings;
  const cut = settings.graph === 'source' ? 'layer' : 'kernel';
  const needsAgent = cut === 'kernel' || !isCompletelyTyped(loaded.model);
  const keep_dynamic = settings.graph === 'optimized_open';
  const { graph } = needsAgent
    ? await graphToCut(loaded, { cut, runOptions, keep_dynamic }, await agent(), signal)
    : { graph: layerGraph(loaded.model) };
  const uses = lastUses(graph);
  const cuts = cutSequences(graph, cut, granularity);
  const sequences = cuts.map(({ first, last }): TraceSequence => {
    const layers = graph.layers.slice(first, last + 1).map((node, i) => ({
      ...readLayerFacts(graph, node),
      signature: cutBrick(graph, uses, { first: first + i, last: first + i }).signature,
    }));
    const position = first === last ? String(first) : `${first}..${last}`;
    return { position, name: graph.layers[first]?.name ?? '', layers, identity: layersKey(layers) };
  });
  return {
    name: loaded.name,
    graph: settings.graph,
    layers: graph.layers.length,
    sequences,
    edges: findEdges(graph, cuts),
    wholeMs: undefined,
  };
}

function isCall({ layers }: TraceSequence): boolean {
  return layers[0]?.operator === CALL;
}

/** Equal for models of the same sequences in any order. */
function formatContent({ sequences }: Target): string {
  const identities = sequences.filter((sequence) => !isCall(sequence)).map(({ identity }) => identity);
  return JSON.stringify(identities.sort());
}

/** Adds the call that `--trace-out` wrote with an estimate from the same bricks: no signature or shape finds it. */
export function withCall(target: Target, { targets }: TraceBook): Target {
  const content = formatContent(target);
  const twin = targets.find((traced) => traced.sequences.some(isCall) && formatContent(traced) === content);
  const call = twin?.sequences.find(isCall);
  if (twin === undefined || call === undefined) return target;
  const end = target.sequences.length;
  return {
    ...target,
    sequences: [...target.sequences, { ...call, of: twin.name }],
    edges: target.edges && [...target.edges, ...target.sequences.map((_sequence, i): [number, number] => [i, end])],
  };
}
