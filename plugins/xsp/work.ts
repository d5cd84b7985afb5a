import { sumOf } from '../../src/plugin-api.js';
import { number, type Row, text } from './analysis.js';
import { boundBy, type Kernel, ratio, sumOrNull, type Trace } from './traces.js';

export const WORK = [
  number('flops', 'operations'),
  number('dram_read_bytes', 'read', 'bytes'),
  number('dram_write_bytes', 'written', 'bytes'),
  number('achieved_occupancy', 'thread pool busy', '%'),
];

export const INTENSITY = [
  number('arithmetic_intensity', 'intensity', 'operations/byte'),
  number('arithmetic_throughput', 'throughput', 'GFLOP/s'),
  text('memory_bound', 'memory bound'),
];

export const WORK_NOTE =
  'Operations and bytes follow from shapes, each value once: a processor here has no counters of single kernels. Bytes may come from caches.';

function yesNo(value: boolean | null): string | null {
  return value === null ? null : value ? 'yes' : 'no';
}

type Work = Pick<Kernel, 'flops' | 'readBytes' | 'writeBytes' | 'intensity' | 'gflops' | 'occupancyPercent'>;

export function sumWork(kernels: readonly Kernel[], ms = sumOf(kernels.map((one) => one.ms))): Work {
  const [flops = null, readBytes = null, writeBytes = null] = (['flops', 'readBytes', 'writeBytes'] as const).map(
    (key) => sumOrNull(kernels.map((one) => one[key])),
  );
  const busy = kernels.filter(({ occupancyPercent }) => occupancyPercent !== null);
  const weighted = sumOf(busy.map((one) => (one.occupancyPercent ?? 0) * one.ms));
  return {
    flops,
    readBytes,
    writeBytes,
    intensity: ratio(flops, sumOrNull([readBytes, writeBytes])),
    gflops: ratio(flops, ms * 1e6),
    occupancyPercent: ratio(weighted, sumOf(busy.map((one) => one.ms))),
  };
}

export function computeWork(kernels: readonly Kernel[], { ridge }: Pick<Trace, 'ridge'>, ms?: number): Row {
  const { flops, readBytes, writeBytes, intensity, gflops, occupancyPercent } = sumWork(kernels, ms);
  return {
    flops,
    dram_read_bytes: readBytes,
    dram_write_bytes: writeBytes,
    achieved_occupancy: occupancyPercent,
    arithmetic_intensity: intensity,
    arithmetic_throughput: gflops,
    memory_bound: yesNo(boundBy(intensity, ridge)),
  };
}

export function selectIntensity({ intensity, gflops, memoryBound }: Kernel): Row {
  return { arithmetic_intensity: intensity, arithmetic_throughput: gflops, memory_bound: yesNo(memoryBound) };
}

export const ROOF = [
  number('roof', 'roof', 'GFLOP/s'),
  number('roof_percent', 'of the roof', '%'),
  text('remark'),
  number('theoretical_gflops', 'peak', 'GFLOP/s'),
  number('memory_bandwidth', 'bandwidth', 'GB/s'),
];

/** Above it, values come from caches, or the peak was measured on a busier machine. */
const OVER = 1.05;

/** A kernel under the roof of its machine. Kernels of int8 have the peak of int8. */
export function computeRoof(
  { intensity, gflops, layer }: Pick<Kernel, 'intensity' | 'gflops' | 'layer'>,
  { peaks }: Pick<Trace, 'peaks'>,
): Row {
  const isInt8 = layer.inputs?.some(({ elementType }) => elementType === 'int8') ?? false;
  const peak = peaks.get(isInt8 ? 'int8' : 'float32')?.value;
  const bandwidth = peaks.get('memory')?.value;
  const known = peak !== undefined && bandwidth !== undefined && intensity !== null;
  const roof = known ? Math.min(peak, intensity * bandwidth) : null;
  const share = ratio(gflops, roof);
  const remark =
    share === null || share <= OVER
      ? ''
      : peak !== undefined && (gflops ?? 0) > OVER * peak
        ? 'above the peak: fewer operations than counted, or the peak was measured on a busier machine'
        : 'cached: faster than memory';
  return {
    roof,
    roof_percent: share === null ? null : 100 * share,
    remark,
    theoretical_gflops: peak ?? null,
    memory_bandwidth: bandwidth ?? null,
  };
}
