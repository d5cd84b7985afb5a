import type { MeasuredLayer, SourceLayer, TracedModel } from '../foreign-traces/collect-models.js';
import type { TracedTensor } from '../foreign-traces/trace-record.js';
import { parseShapes } from '../foreign-traces/shapes.js';
import { isOutermost, type TracedKernel } from '../measurement/kernel-facts.js';

function parseShapedTensors(shapes: string, types: string): readonly TracedTensor[] | undefined {
  const dims = shapes === '' ? [] : parseShapes(shapes);
  const named = types.split(';');
  return dims?.map((one, at) => ({ elementType: named[at] === '' ? undefined : named[at], dims: one }));
}

/** The time of a Loop is that of its kernels. */
function isLeaf(kernel: TracedKernel, all: readonly TracedKernel[]): boolean {
  return !all.some(({ sequenceIndex }) => sequenceIndex.startsWith(`${kernel.sequenceIndex}-`));
}

/** @param sources the author's layers by the index of an outermost kernel */
export function buildTracedModel(
  kernels: readonly TracedKernel[],
  about: Pick<TracedModel, 'model' | 'system' | 'source' | 'traceIds' | 'wholeMs' | 'tracedWholeMs'>,
  sources: ReadonlyMap<string, readonly SourceLayer[]> = new Map(),
): TracedModel {
  const holders = !kernels.every(isOutermost);
  const leaves = holders ? kernels.filter((kernel) => isLeaf(kernel, kernels)) : kernels;
  const layers = leaves.map((kernel): MeasuredLayer => {
    const { sequenceIndex, name, opName, runMs, memory, pool } = kernel;
    return {
      index: sequenceIndex,
      name: name === '' ? opName : name,
      operator: opName,
      inputs: parseShapedTensors(kernel.inputShape, kernel.inputTypes),
      outputs: parseShapedTensors(kernel.shape, kernel.outputTypes),
      samplesMs: runMs,
      runs: runMs.length,
      ...(memory && { memory }),
      ...(pool && { pool }),
      ...(sources.size > 0 && { sources: sources.get(sequenceIndex.replace(/-.*$/, '')) ?? [] }),
    };
  });
  return { ...about, layers };
}
