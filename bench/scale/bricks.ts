import { createHash } from 'node:crypto';
import { DEFAULT_PROTOCOL } from '../../src/manifest/evaluation.js';
import {
  DEFAULT_LIMITS,
  type Measurement,
  type MeasureRequest,
  protocolOfComposite,
  buildRunOptions,
  type System,
} from '../../src/plugin-api.js';

/** Bytes of a brick's file: an operator with its attributes, shapes and types. */
const MODEL_BYTES = 700;

/** Bytes that the bricks' model touches in one run: more than caches hold, so that any bricks may share an item. */
const FOOTPRINT_BYTES = 2 ** 31;

/** A series of bricks. No other series has any of them. */
export interface BrickSeries {
  /** Name of the series: part of every signature. */
  readonly name: string;
  readonly bricks: number;
}

function signatureOf({ name }: BrickSeries, index: number): string {
  return createHash('sha256').update(`${name} ${index}`).digest('hex');
}

/** Requests for all bricks of a series, as the plugin `dlbricks` makes them; their files have made-up bytes. */
export function requestsOf(series: BrickSeries): readonly MeasureRequest[] {
  return Array.from({ length: series.bricks }, (_, index) => {
    const signature = signatureOf(series, index);
    return {
      benchmark: {
        signature,
        model: Buffer.alloc(MODEL_BYTES, signature),
        inputs: [
          {
            name: 'x',
            role: 'activation' as const,
            elementType: 'float32' as const,
            dims: [1, 64, 56, 56],
            fill: { low: -1, high: 1, seed: 1 },
          },
        ],
      },
      runOptions: buildRunOptions(1),
      protocol: DEFAULT_PROTOCOL,
      occasion: 1,
      limits: DEFAULT_LIMITS,
      context: { footprintBytes: FOOTPRINT_BYTES },
      modelBytes: FOOTPRINT_BYTES,
      roughMs: 1,
    };
  });
}

/**
 * Time that an agent waits for a brick instead of measuring it: 0.5 to 1.5 times the mean; ms. The signature determines
 * it, so that agents and the benchmark agree.
 */
export function waitMsOf(signature: string, meanMs: number): number {
  return meanMs * (0.5 + Number.parseInt(signature.slice(0, 8), 16) / 2 ** 32);
}

/** Sum of the waits for all bricks of a series; ms. */
export function totalWaitMs(series: BrickSeries, meanMs: number): number {
  let sum = 0;
  for (let index = 0; index < series.bricks; index += 1) sum += waitMsOf(signatureOf(series, index), meanMs);
  return sum;
}

/** A measurement as a composite gives it, with made-up times that have as many digits as real ones. */
export function measurementOf(request: MeasureRequest, system: System, waitedMs: number): Measurement {
  const { benchmark, protocol, context, occasion, limits } = request;
  const { runs, warmupRuns } = protocolOfComposite(protocol);
  const seed = Number.parseInt(benchmark.signature.slice(0, 8), 16) / 2 ** 32;
  const times = (count: number): number[] => Array.from({ length: count }, (_, run) => seed + run / 997);
  return {
    signature: benchmark.signature,
    system,
    protocol,
    ...(context === undefined ? {} : { context }),
    occasion,
    limits,
    outcome: { kind: 'samples', runMs: times(runs), warmupMs: times(warmupRuns), overheadMs: seed / 100 },
    costMs: waitedMs,
    sessionMs: waitedMs / 3,
    peakMemoryBytes: 2 ** 29 + Math.floor(seed * 2 ** 20),
    conditions: { wallMs: waitedMs, cores: system.cores, stealMs: seed, othersMs: seed * 2, droppedRuns: 0 },
    measuredAt: new Date().toISOString(),
  };
}
