import { type SystemFacts, z } from '../../../src/plugin-api.js';

/** The properties that a runtime's optimized graph depends on besides the model; they do not identify the machine. */
export const optimizedForSchema = z.strictObject({
  framework: z.string().max(64),
  framework_version: z.string().max(64),
  architecture: z.string().max(32),
  processor_features: z.array(z.string().max(32)).max(256),
});

export type OptimizedFor = z.infer<typeof optimizedForSchema>;

export function describeOptimizedFor(system: SystemFacts): OptimizedFor {
  const { framework, frameworkVersion, architecture, processorFeatures } = system;
  return { framework, framework_version: frameworkVersion, architecture, processor_features: [...processorFeatures] };
}

/**
 * Channels that ONNX Runtime keeps together in its blocked layout; undefined where that is not known. Source: MLAS,
 * platform.cpp, NchwcBlockSize: 8 on x64, 16 with AVX-512.
 */
function channelBlock({ architecture, processor_features: features }: OptimizedFor): number | undefined {
  if (architecture !== 'x64') return undefined;
  return features.includes('avx512f') ? 16 : 8;
}

export function differencesBetween(cutFor: OptimizedFor, here: OptimizedFor): readonly string[] {
  const differences: string[] = [];
  const runtime = ({ framework, framework_version: version }: OptimizedFor): string => `${framework} ${version}`;
  if (runtime(cutFor) !== runtime(here)) {
    differences.push(
      `the suite was cut from graphs that ${runtime(cutFor)} optimized; this machine has ${runtime(here)}, which may fuse kernels differently`,
    );
  }
  const block = channelBlock(cutFor);
  const ownBlock = channelBlock(here);
  if (cutFor.architecture !== here.architecture || block !== ownBlock) {
    const layout = ({ architecture }: OptimizedFor, channels: number | undefined): string => {
      return channels === undefined ? architecture : `${architecture} with blocks of ${channels} channels`;
    };
    differences.push(
      `the suite was cut for ${layout(cutFor, block)}, this processor is ${layout(here, ownBlock)}: its runtime would lay out ` +
        'convolutions differently, and may refuse some of these bricks; estimates are for the graphs as they were cut',
    );
  }
  return differences;
}
