import { PlatformError } from '../../base/errors.js';

export interface ReadingLimits {
  /** Memory of decoded structures, in bytes by the estimate of strip-payloads.ts. */
  readonly structureBytes: number;
  /** Nodes when functions are inlined, as inline-functions.ts counts them. */
  readonly nodes: number;
  /** Size of inlined functions, in characters of names and bytes of values. */
  readonly inlinedSize: number;
}

/** Functions that call functions can double the graph with every level, and each call repeats the names in the body. */
export const INLINED_SIZE = 2 ** 26;

export class ReadingBudget {
  #structureBytes = 0;
  #nodes = 0;
  #inlinedSize = 0;

  /** @param code of the error past a limit: `model` for the limits of one model, `usage` for those of a request */
  constructor(
    private readonly limits: ReadingLimits,
    private readonly code: 'model' | 'usage',
  ) {}

  addStructure(bytes: number, source: string): void {
    this.#structureBytes += bytes;
    const { structureBytes } = this.limits;
    if (this.#structureBytes <= structureBytes) return;
    const problem = `the graphs up to here would take more than ${structureBytes / 2 ** 20} MiB of memory together`;
    throw new PlatformError(this.code, `${source}: ${problem}. Submit fewer models at a time.`);
  }

  addNodes(nodes: number, source: string): void {
    this.#nodes += nodes;
    if (this.#nodes <= this.limits.nodes) return;
    const problem = `the graphs up to here have more than ${this.limits.nodes} nodes together, with functions inlined`;
    throw new PlatformError(this.code, `${source}: ${problem}. Submit fewer models at a time.`);
  }

  addInlined(size: number, source: string): void {
    this.#inlinedSize += size;
    if (this.#inlinedSize <= this.limits.inlinedSize) return;
    const problem = 'its functions call each other so often that the graph becomes too large';
    throw new PlatformError(this.code, `${source}: ${problem}. Export the model without functions.`);
  }
}

export function budgetOfOne(): ReadingBudget {
  return new ReadingBudget({ structureBytes: Infinity, nodes: Infinity, inlinedSize: INLINED_SIZE }, 'model');
}
