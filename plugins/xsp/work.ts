import { sumOf } from '../../src/plugin-api.js';
import { type Field, number, text } from './analysis.js';
import { boundBy, type Kernel, percentOf, ratio, sumOrNull, type Trace } from './traces.js';

type Work = Pick<
  Kernel,
  'flops' | 'readBytes' | 'writeBytes' | 'intensity' | 'gflops' | 'memoryBound' | 'occupancyPercent'
>;

export const WORK: readonly Field<[Work]>[] = [
  [number('flops', 'operations'), ({ flops }) => flops],
  [number('dram_read_bytes', 'read', 'bytes'), ({ readBytes }) => readBytes],
  [number('dram_write_bytes', 'written', 'bytes'), ({ writeBytes }) => writeBytes],
  [number('achieved_occupancy', 'thread pool busy', '%'), ({ occupancyPercent }) => occupancyPercent],
];

export const INTENSITY: readonly Field<[Work]>[] = [
  [number('arithmetic_intensity', 'intensity', 'operations/byte'), ({ intensity }) => intensity],
  [number('arithmetic_throughput', 'throughput', 'GFLOP/s'), ({ gflops }) => gflops],
  [text('memory_bound', 'memory bound'), ({ memoryBound: is }) => (is === null ? null : is ? 'yes' : 'no')],
];

export const WORK_NOTE =
  'Operations and bytes follow from shapes, each value once: a processor here has no counters of single kernels. Bytes may come from caches.';

/** @param ms by default that of the kernels */
export function sumWork(
  kernels: readonly Kernel[],
  { ridge }: Pick<Trace, 'ridge'>,
  ms = sumOf(kernels.map((one) => one.ms)),
): Work {
  const [flops = null, readBytes = null, writeBytes = null] = (['flops', 'readBytes', 'writeBytes'] as const).map(
    (key) => sumOrNull(kernels.map((one) => one[key])),
  );
  const busy = kernels.filter(({ occupancyPercent }) => occupancyPercent !== null);
  const weighted = sumOf(busy.map((one) => (one.occupancyPercent ?? 0) * one.ms));
  const intensity = ratio(flops, sumOrNull([readBytes, writeBytes]));
  return {
    flops,
    readBytes,
    writeBytes,
    intensity,
    gflops: ratio(flops, ms * 1e6),
    memoryBound: boundBy(intensity, ridge),
    occupancyPercent: ratio(weighted, sumOf(busy.map((one) => one.ms))),
  };
}

/** Above it, values come from caches, or the peak was measured on a busier machine. */
const OVER = 1.05;

export const ROOF: readonly Field<[{ readonly roof: ReturnType<typeof computeRoof> }]>[] = [
  [number('roof', 'roof', 'GFLOP/s'), ({ roof }) => roof.roof],
  [number('roof_percent', 'of the roof', '%'), ({ roof }) => roof.percent],
  [text('remark'), ({ roof }) => roof.remark],
  [number('theoretical_gflops', 'peak', 'GFLOP/s'), ({ roof }) => roof.peak ?? null],
  [number('memory_bandwidth', 'bandwidth', 'GB/s'), ({ roof }) => roof.bandwidth ?? null],
];

/** A kernel under the roof of its machine. Kernels of int8 have the peak of int8. */
export function computeRoof(
  { intensity, gflops, layer }: Pick<Kernel, 'intensity' | 'gflops' | 'layer'>,
  { peaks }: Pick<Trace, 'peaks'>,
) {
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
  return { peak, bandwidth, roof, percent: percentOf(gflops, roof), remark };
}
