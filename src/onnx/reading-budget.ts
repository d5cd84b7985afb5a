import { PlatformError } from '../base/errors.js';

export interface ReadingLimits {
  /** What decoded structures may take in memory, in bytes as strip-payloads.ts estimates them. */
  readonly structureBytes: number;
  /** What functions may become when they are inlined, in characters of names and the like. */
  readonly inlinedSize: number;
}

/**
 * Functions that call functions can double the graph with every level, and each call repeats the names in the body. This
 * bounds what inlining makes in all.
 */
export const INLINED_SIZE = 2 ** 26;

/** What several models that come from one place may take together. A model has limits of its own besides. */
export class ReadingBudget {
  #structureBytes = 0;
  #inlinedSize = 0;

  constructor(private readonly limits: ReadingLimits) {}

  /** @throws PlatformError `model` past the limit */
  addStructure(bytes: number, source: string): void {
    this.#structureBytes += bytes;
    const { structureBytes } = this.limits;
    if (this.#structureBytes <= structureBytes) return;
    const problem = `the graphs up to here would take more than ${structureBytes / 2 ** 20} MiB of memory together`;
    throw new PlatformError('model', `${source}: ${problem}. Submit fewer models at a time.`);
  }

  /** @throws PlatformError `model` past the limit */
  addInlined(size: number, source: string): void {
    this.requireInlined(size, source);
    this.#inlinedSize += size;
  }

  /** Whether there is room for what is about to be inlined. @throws PlatformError `model` where there is none */
  requireInlined(size: number, source: string): void {
    if (this.#inlinedSize + size <= this.limits.inlinedSize) return;
    const problem = 'its functions call each other so often that the graph becomes too large';
    throw new PlatformError('model', `${source}: ${problem}. Export the model without functions.`);
  }
}

/** For a model that is read alone, whose structure has a limit anyway. */
export function budgetOfOne(): ReadingBudget {
  return new ReadingBudget({ structureBytes: Infinity, inlinedSize: INLINED_SIZE });
}
