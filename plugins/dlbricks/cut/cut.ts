import type { LayerGraph } from '../../../src/plugin-api.js';
import { joinAtOpaqueValues } from './join-at-opaque-values.js';
import { cutAtFewestValues } from './kernel-cut.js';
import { findModelSubgraphs, type Sequence } from './layer-cut.js';

/** At the author's layers, or at the kernels that a runtime executes. */
export const CUTS = ['kernel', 'layer'] as const;

export type Cut = (typeof CUTS)[number];

/** @param granularity longest sequence, in layers or kernels */
export function cutSequences(graph: LayerGraph, cut: Cut, granularity: number): readonly Sequence[] {
  const sequences = cut === 'kernel' ? cutAtFewestValues(graph, granularity) : findModelSubgraphs(graph, granularity);
  return joinAtOpaqueValues(graph, sequences);
}
