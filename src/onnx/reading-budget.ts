import { PlatformError } from '../base/errors.js';

export interface ReadingLimits {
  /** What decoded structures may take in memory, in bytes as strip-payloads.ts estimates them. */
  readonly structureBytes: number;
  /** Nodes when functions are inlined, as expanded-extent.ts counts them. */
  readonly nodes: number;
  /** What inlining makes, in characters of names and bytes of values. */
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
  #nodes = 0;
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

  /** @throws PlatformError `model` past the limit, before any of the nodes is made */
  addNodes(nodes: number, source: string): void {
    this.#nodes += nodes;
    if (this.#nodes <= this.limits.nodes) return;
    const problem = `the graphs up to here have more than ${this.limits.nodes} nodes together, their functions inlined`;
    throw new PlatformError('model', `${source}: ${problem}. Submit fewer models at a time.`);
  }

  /** @throws PlatformError `model` past the limit */
  addInlined(size: number, source: string): void {
    this.#inlinedSize += size;
    if (this.#inlinedSize <= this.limits.inlinedSize) return;
    const problem = 'its functions call each other so often that the graph becomes too large';
    throw new PlatformError('model', `${source}: ${problem}. Export the model without functions.`);
  }
}

/** For a model that is read alone, whose structure and nodes have limits anyway. */
export function budgetOfOne(): ReadingBudget {
  return new ReadingBudget({ structureBytes: Infinity, nodes: Infinity, inlinedSize: INLINED_SIZE });
}
