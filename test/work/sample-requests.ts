import type { MeasureRequest } from '../../src/agent/benchmark-agent.js';
import { LIMITS, PROTOCOL, signatureOf, SYSTEM } from '../store/sample-measurement.js';

/** Requests for `count` different bricks of one model that is larger than the cache of the sample's system. */
export function sampleRequests(count: number, changes: Partial<MeasureRequest> = {}): readonly MeasureRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    benchmark: {
      signature: signatureOf(index),
      model: Uint8Array.of(8, index % 100),
      inputs: [
        {
          name: 'w0',
          role: 'weight' as const,
          elementType: 'float32' as const,
          dims: [3, index],
          fill: { low: -1, high: 1, seed: index },
        },
      ],
    },
    runOptions: SYSTEM.runOptions,
    protocol: PROTOCOL,
    occasion: 1,
    limits: LIMITS,
    context: { footprintBytes: 1.5 * SYSTEM.cacheBytes },
    modelBytes: 20_000_000,
    roughMs: 0.5,
    ...changes,
  }));
}
