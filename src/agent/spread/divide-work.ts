import { isColdFootprint } from '../../composite/footprint.js';
import type { MeasureRequest } from '../benchmark-agent.js';

/** Indices of requests that one machine measures in one go. */
export type Portion = readonly number[];

/** Fewer bricks would not pay for a composite of their own, which reads as many bytes as a large one. */
const LEAST_TOGETHER = 16;

/** Portions of a context for each machine: the fastest one takes more of them. */
const PORTIONS_PER_MACHINE = 2;

export interface Sharing {
  readonly machines: number;
  /** Last-level cache of each machine; 0 where it is not known. */
  readonly cacheBytes: number;
}

/** Requests that go into the same composites. */
interface Company {
  readonly indices: number[];
  readonly isCold: boolean;
}

function portionsOf(indices: Portion, size: number): readonly Portion[] {
  const count = Math.ceil(indices.length / size);
  return Array.from({ length: count }, (_, index) => indices.slice(index * size, (index + 1) * size));
}

/**
 * Divides requests among machines. Bricks that a machine would measure in one composite stay together as far as their
 * latency depends on it: where caches hold a part of a model, a part of its bricks would be warmer than all of them.
 * Bricks that are cold in any case, and whole models, are shared out.
 *
 * @returns portions that have every index once, in the order of their first requests
 */
export function divideWork(requests: readonly MeasureRequest[], { machines, cacheBytes }: Sharing): readonly Portion[] {
  const companies = new Map<string, Company>();
  for (const [index, { context, modelBytes, runOptions, protocol, limits, occasion }] of requests.entries()) {
    const isCold = context !== undefined && isColdFootprint(context.footprintBytes, cacheBytes);
    // A request without a context has a session of its own, and below the largest context a composite is of one model.
    const subject = context === undefined ? index : [context.footprintBytes, isCold ? null : modelBytes];
    const key = JSON.stringify([subject, runOptions, protocol, limits, occasion]);
    const company = companies.get(key) ?? { indices: [], isCold };
    companies.set(key, company);
    company.indices.push(index);
  }
  return [...companies.values()].flatMap(({ indices, isCold }) => {
    const share = Math.ceil(indices.length / (PORTIONS_PER_MACHINE * machines));
    return portionsOf(indices, isCold ? Math.max(LEAST_TOGETHER, share) : indices.length);
  });
}
