import { PlatformError } from '../../base/errors.js';

/** Most nodes, in a file and after inlining. One counts once for each graph around it, as most algorithms visit it. */
const MAX_NODES = 2 ** 19;

/** @throws PlatformError 'model' where there are more than this project supports */
export function checkNodes(nodes: number, source: string): void {
  if (nodes <= MAX_NODES) return;
  const counted = 'with its functions inlined, and each node counted once for each graph around it';
  throw new PlatformError(
    'model',
    `${source}: the graph has more than ${MAX_NODES} nodes, ${counted}. Split the model.`,
  );
}

export interface ReadingLimits {
  /** Memory of decoded structures, in bytes by the estimate of strip-payloads.ts. */
  readonly structureBytes: number;
  /** Nodes when functions are inlined, as inline-functions.ts counts them. */
  readonly nodes: number;
  /** Size of inlined functions, in characters of names and bytes of values. */
  readonly inlinedSize: number;
}

/** What the models of a request may take together. */
export class ReadingBudget {
  #structureBytes = 0;
  #nodes = 0;
  #inlinedSize = 0;

  constructor(private readonly limits: ReadingLimits) {}

  addStructure(bytes: number, source: string): void {
    this.#structureBytes += bytes;
    const { structureBytes } = this.limits;
    if (this.#structureBytes <= structureBytes) return;
    throw tooMuch(source, `would take more than ${structureBytes / 2 ** 20} MiB of memory together`);
  }

  addNodes(nodes: number, source: string): void {
    this.#nodes += nodes;
    if (this.#nodes <= this.limits.nodes) return;
    throw tooMuch(source, `have more than ${this.limits.nodes} nodes together, with functions inlined`);
  }

  addInlined(size: number, source: string): void {
    this.#inlinedSize += size;
    if (this.#inlinedSize <= this.limits.inlinedSize) return;
    throw tooMuch(source, 'have functions that call each other so often that they become too large together');
  }
}

function tooMuch(source: string, problem: string): PlatformError {
  return new PlatformError('usage', `${source}: the graphs up to here ${problem}. Submit fewer models at a time.`);
}

/** One model has limits of its own. */
export function budgetOfOne(): ReadingBudget {
  return new ReadingBudget({ structureBytes: Infinity, nodes: Infinity, inlinedSize: Infinity });
}
