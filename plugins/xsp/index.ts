import type { Plugin } from '../../src/plugin-api.js';
import { gaps } from './analyses/gaps.js';
import { kernelGroups, kernelRoofline, kernels } from './analyses/kernels.js';
import { layerLatency, layerMemory, layers } from './analyses/layers.js';
import { model } from './analyses/model.js';
import { summary } from './analyses/summary.js';
import { typeLatency, typeMemory, types } from './analyses/types.js';
import { layerKernels, layerRoofline, layerWork, models } from './analyses/work.js';

/** The analyses of XSP (Li et al., arXiv 1908.06869), read on a processor, of traces in the store. */
const plugin: Plugin = {
  name: 'xsp',
  version: '0.1.0',
  analyses: [
    summary,
    model,
    layers,
    layerLatency,
    layerMemory,
    types,
    typeLatency,
    typeMemory,
    kernels,
    kernelRoofline,
    kernelGroups,
    layerKernels,
    layerWork,
    gaps,
    layerRoofline,
    models,
  ],
};

export default plugin;
