import type { MeasureRequest } from '../../../src/agent/benchmark-agent.js';
import { LIMITS, PROTOCOL, signatureOf } from '../../store/sample-measurement.js';

const RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;

/** Last-level cache of fake agents, in bytes. */
export const CACHE_BYTES = 32 * 2 ** 20;

/** Contexts: a cache may hold a part of the footprint of WARM, and does not hold that of COLD. */
export const WARM = { footprintBytes: 2 ** 20 };
export const COLD = { footprintBytes: 48 * 2 ** 20 };

/** A request for benchmark number `index`; by default a whole model. */
export function requestFor(index: number, changes: Partial<MeasureRequest> = {}): MeasureRequest {
  const benchmark = { signature: signatureOf(index), model: new Uint8Array([index % 256]), inputs: [] };
  return { benchmark, runOptions: RUN_OPTIONS, protocol: PROTOCOL, occasion: 1, limits: LIMITS, ...changes };
}

export function requestsFor(count: number, changes: Partial<MeasureRequest> = {}): readonly MeasureRequest[] {
  return Array.from({ length: count }, (_, index) => requestFor(index, changes));
}
